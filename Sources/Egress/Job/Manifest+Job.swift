public import Foundation
import Logging
public import MediaBridge
import MediaCore

extension Manifest {
  /// - Parameters:
  ///   - origin: when the first moment was.
  ///   - end: when the last was.
  ///   - length: of the media.
  init(
    _ progress: OutputProgress, of room: Room, _ identity: String?, from origin: Date, to end: Date, _ length: Duration,
    tracks: [Track], gaps: [Span], speakers: SpeakerLog
  ) {
    func all(_ kind: DestinationStatus.Kind) -> [DestinationStatus] {
      progress.destinations.filter { $0.kind == kind && $0.holdsMedia }
    }
    let images = all(.images).flatMap(\.segments).map(Image.init)
    let playlists = all(.segments).map(Playlist.init)
    self.init(
      egressId: room.localParticipant.identity.flatMap { $0.hasPrefix("EG_") ? $0 : nil }, roomId: room.sid,
      roomName: room.name, publisherIdentity: identity, startedAt: origin.nanoseconds, endedAt: end.nanoseconds,
      files: all(.file).flatMap { [$0.location] + $0.parts }.map(File.init),
      playlists: playlists.isEmpty ? nil : playlists, images: images.isEmpty ? nil : images,
      destinations: progress.destinations.map(Destination.init), tracks: tracks, gaps: gaps,
      speakers: speakers.turns(until: length).map { Span(identity: $0.identity, from: $0.from, to: $0.to) },
      speakersUntil: speakers.end(until: length)?.rounded,
      codecChanges: progress.codecChanges.map(Change.init), reloads: progress.reloads.map(Reload.init),
      notRecorded: progress.omissions.map(Missing.init))
  }

  /// As text, for a file.
  public var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.keyEncodingStrategy = .convertToSnakeCase
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(self)
    }
  }

  /// Writes it beside the file of each destination that has one, `NAME.mp4.json`, whole or not at all; also where the file
  /// has been moved away meanwhile. Where its folder has been, too, the log says so.
  /// - Throws: which one could not be written, and why; the others are.
  public func write() throws(LiveKitError) {
    if let failure = writeAll().failures.first { throw failure }
  }

  /// As `write()`.
  /// - Returns: the files that were written, and why others were not.
  package func writeAll() -> (files: [String], failures: [LiveKitError]) {
    let written = destinations.filter { $0.size ?? 0 > 0 || FileManager.default.fileExists(atPath: $0.location) }
    var (files, failures): ([String], [LiveKitError]) = ([], [])
    for location in written.map(\.location) {
      guard Self.hasFolder(location) else {
        Loggers().output.warning(
          "no manifest is written: the file is gone, and its folder", metadata: ["file": "\(location)"])
        continue
      }
      let file = location + ".json"
      do {
        try json.write(to: URL(fileURLWithPath: file), options: .atomic)
        files.append(file)
      } catch {
        failures.append(
          LiveKitError(
            .output, "\(file): the manifest could not be written: \(error.systemReason)", underlying: error))
      }
    }
    return (files, failures)
  }

  /// What is run for each complete file may move all that lies beside it.
  private static func hasFolder(_ file: String) -> Bool {
    FileManager.default.fileExists(atPath: URL(fileURLWithPath: file).deletingLastPathComponent().path)
  }
}

extension Manifest.File {
  fileprivate init(_ location: String) {
    self.init(filename: (location as NSString).lastPathComponent, location: location)
  }
}

extension DestinationStatus {
  /// Whether it came to be: what could not be opened, or got nothing, is nowhere.
  fileprivate var holdsMedia: Bool { bytes > 0 || !completedFiles.isEmpty }
}

extension Manifest.Playlist {
  fileprivate init(_ status: DestinationStatus) {
    self.init(location: status.location, segments: status.segments.map(Manifest.File.init))
  }
}

extension Manifest.Image {
  fileprivate init(_ location: String) {
    let written = try? FileClaim.asking(location) {
      try? FileManager.default.attributesOfItem(atPath: location)[.modificationDate] as? Date
    }
    self.init(
      filename: (location as NSString).lastPathComponent, timestamp: written?.formatted(.iso8601), location: location)
  }
}

extension Manifest.Track {
  /// - Parameter sid: the server's id of the track as this came of it; that of the publication is another one in
  ///   another session.
  init(
    _ publication: RemoteTrackPublication, sid: String, _ media: IncomingMedia, _ reception: IncomingMedia.Reception
  ) {
    self.init(
      trackId: sid, kind: publication.kind.description, source: publication.source.description,
      publisherIdentity: publication.participant?.identity ?? "", codec: media.codec,
      packets: reception.packetsReceived, lost: reception.packetsLost)
  }
}

extension Manifest.Destination {
  fileprivate init(_ status: DestinationStatus) {
    let dropped = status.tracks.reduce(0) { $0 + $1.buffersDropped }
    self.init(
      location: status.location, state: status.state.rawValue, duration: status.duration.rounded,
      size: status.isFile ? status.bytes : nil, captions: status.captions?.files, dropped: dropped > 0 ? dropped : nil,
      error: status.failure?.message)
  }
}

extension Manifest.Span {
  init(
    kind: String? = nil, identity: String? = nil, trackId: String? = nil, from: Duration, to: Duration
  ) {
    self.init(kind: kind, identity: identity, trackId: trackId, from: from.rounded, to: to.rounded)
  }
}

extension Manifest.Change {
  fileprivate init(_ change: CodecChange) {
    self.init(
      location: change.location, trackId: change.sid, held: change.held, sent: change.sent, from: change.start.rounded,
      part: change.part)
  }
}

extension Manifest.Reload {
  fileprivate init(_ reload: TemplateReload) {
    self.init(
      location: reload.location, templates: reload.templates, from: reload.start.rounded, part: reload.part)
  }
}

extension Manifest.Missing {
  fileprivate init(_ omission: Omission) {
    self.init(
      trackId: omission.sid, source: omission.source.description, publisherIdentity: omission.participant,
      reason: omission.reason, wanted: omission.wasWanted)
  }
}

extension Date {
  fileprivate var nanoseconds: Int64 { Int64(timeIntervalSince1970 * 1000) * 1_000_000 }
}

extension Duration {
  /// Seconds to the millisecond.
  fileprivate var rounded: Double { (seconds * 1000).rounded() / 1000 }
}
