package import Foundation
import Glibc
package import MediaBridge
package import PipelineTemplates

/// What fills the placeholders of file names and addresses, as far as it is known.
package struct FileNameValues: Sendable {
  package typealias Values = [FileNameTemplate.Placeholder: String]

  /// A track that is recorded.
  struct Recorded: Sendable {
    var sid: String
    var kind: Track.Kind
    var source: Track.Source

    init(_ publication: TrackPublication) {
      (sid, kind, source) = (publication.sid, publication.kind, publication.source)
    }
  }

  package private(set) var values: Values
  private var tracks: [Recorded] = []

  /// Before a room is joined.
  package init(at date: Date) {
    values = [:]
    set(date)
  }

  /// For what begins now.
  mutating func set(_ date: Date) {
    values[.time] = Self.text(date, "%Y-%m-%dT%H%M%S", localtime_r)
    values[.utc] = Self.utc(date)
  }

  /// Once it is known who is recorded.
  package mutating func add(_ room: Room, _ participant: RemoteParticipant?, _ tracks: [RemoteTrackPublication]) {
    values[.roomName] = room.name
    values[.roomID] = room.sid
    values[.publisherIdentity] = participant?.identity
    self.tracks = tracks.map(Recorded.init)
  }

  /// Those of the only track among those kinds; none where there are two.
  package func track(of kinds: Set<Track.Kind>) -> Values {
    let tracks = tracks.filter { kinds.contains($0.kind) }
    guard tracks.count == 1 else { return [:] }
    return [
      .trackID: tracks[0].sid, .trackType: tracks[0].kind.description, .trackSource: tracks[0].source.description,
    ]
  }

  /// `20060102150405000`, with milliseconds.
  static func utc(_ date: Date) -> String {
    let milliseconds = Int((date.timeIntervalSince1970 * 1000).rounded(.down))
    return text(date, "%Y%m%d%H%M%S", gmtime_r) + String(format: "%03d", milliseconds % 1000)
  }

  /// By the C library: Foundation's formatter reads megabytes of what it knows of languages first.
  private static func text(
    _ date: Date, _ format: String,
    _ split: (UnsafePointer<time_t>, UnsafeMutablePointer<tm>) -> UnsafeMutablePointer<tm>?
  ) -> String {
    var (seconds, parts) = (time_t(date.timeIntervalSince1970.rounded(.down)), tm())
    _ = split(&seconds, &parts)
    return String(unsafeUninitializedCapacity: 32) { bytes in
      bytes.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress, $0.count, format, &parts) }
    }
  }
}

extension FileNameTemplate {
  /// Nil for a name, or an address, without placeholders.
  /// - Throws: what is wrong with it.
  init?(of destination: Destination) throws(LiveKitError) {
    let location = destination.location
    guard destination.isFile ? location.contains("{") : Self.hasPlaceholder(location) else { return nil }
    guard !destination.leavesServerOpen else {
      throw LiveKitError(
        .invalidParameter,
        "\(destination.shown): whoever is in the room would choose the server; write host and port as they are")
    }
    do { try self.init(location) } catch { throw Self.wrong(destination, error) }
  }

  /// The destination with its placeholders filled.
  /// - Returns: nil where not all is known yet.
  func filled(
    _ destination: Destination, _ values: FileNameValues, _ track: FileNameValues.Values
  ) throws(LiveKitError) -> Destination? {
    let values = values.values.merging(track) { $1 }
    guard placeholders.allSatisfy({ values[$0] != nil }) else { return nil }
    var filled = destination
    do { filled.location = try destination.isFile ? fill(values) : address(values) } catch {
      throw Self.wrong(destination, error)
    }
    filled.known = Set(placeholders.compactMap { values[$0].map(Self.word) })
    return filled
  }

  private static func wrong(_ destination: Destination, _ failure: Failure) -> LiveKitError {
    LiveKitError(.invalidParameter, "\(destination.shown): \(failure)", underlying: failure)
  }
}

extension FileNameTemplate.Placeholder {
  /// Whether a file of two tracks has no such name.
  package var isOfOneTrack: Bool { [.trackID, .trackType, .trackSource].contains(self) }
}
