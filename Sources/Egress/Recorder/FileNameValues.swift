package import Foundation
package import MediaBridge
package import PipelineTemplates

/// What fills the placeholders of file names, as far as it is known.
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
    values = [
      .time: Self.text(date, "yyyy-MM-dd'T'HHmmss", .current), .utc: Self.text(date, "yyyyMMddHHmmssSSS", .gmt),
    ]
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

  private static func text(_ date: Date, _ format: String, _ zone: TimeZone) -> String {
    let formatter = DateFormatter()
    (formatter.locale, formatter.timeZone) = (Locale(identifier: "en_US_POSIX"), zone)
    formatter.dateFormat = format
    return formatter.string(from: date)
  }
}

extension FileNameTemplate {
  /// Nil for a name without placeholders, and for an address.
  /// - Throws: what is wrong with it.
  init?(of destination: Destination) throws(LiveKitError) {
    guard destination.isFile, destination.location.contains("{") else { return nil }
    do { try self.init(destination.location) } catch { throw Self.wrong(destination.location, error) }
  }

  /// - Returns: nil where not all is known yet.
  func path(_ values: FileNameValues, _ track: FileNameValues.Values) throws(LiveKitError) -> String? {
    let values = values.values.merging(track) { $1 }
    guard placeholders.allSatisfy({ values[$0] != nil }) else { return nil }
    do { return try fill(values) } catch { throw Self.wrong(text, error) }
  }

  private static func wrong(_ location: String, _ failure: Failure) -> LiveKitError {
    LiveKitError(.invalidParameter, "\(location): \(failure)", underlying: failure)
  }
}

extension FileNameTemplate.Placeholder {
  /// Whether a file of two tracks has no such name.
  package var isOfOneTrack: Bool { [.trackID, .trackType, .trackSource].contains(self) }
}
