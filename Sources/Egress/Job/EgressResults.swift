public import Foundation
public import MediaBridge

/// A file of a job.
public struct FileInfo: Sendable, Equatable {
  /// Without its folder.
  public var filename: String
  /// Its path.
  public var location: String
  /// The files in which it goes on.
  public var parts: [String]
  /// When its first moment was written; nil before.
  public var startedAt: Date?
  /// When it was closed; nil before.
  public var endedAt: Date?
  /// Of the media, in all parts.
  public var duration: Duration
  /// In bytes, of all parts.
  public var size: Int64
  /// Why it is not whole; nil where it is.
  public var error: LiveKitError?
}

/// A live server that a job goes to.
public struct StreamInfo: Sendable, Equatable {
  /// How it is with one.
  public enum Status: String, Sendable {
    /// It is sent, or is about to be.
    case active
    /// It has ended as it was to.
    case finished
    /// It could not go on.
    case failed
  }

  /// Without what may be a secret in it.
  public var url: String
  /// How it is.
  public var status: Status
  /// When something was sent first; nil before.
  public var startedAt: Date?
  /// When it was closed; nil before.
  public var endedAt: Date?
  /// What came for it, also while its server was away.
  public var duration: Duration
  /// How often its server was lost, and tried again.
  public var retries: Int
  /// Why it failed; nil where it has not.
  public var error: LiveKitError?
}

/// A playlist of a job, and the segments that it lists.
public struct SegmentsInfo: Sendable, Equatable {
  /// Without its folder.
  public var playlistName: String
  /// Its path.
  public var playlistLocation: String
  /// The segments that are complete and still there.
  public var segmentCount: Int
  /// When the first segment was begun; nil before.
  public var startedAt: Date?
  /// When the playlist was closed; nil before.
  public var endedAt: Date?
  /// Of the segments that are complete.
  public var duration: Duration
  /// In bytes, of all segments that were completed.
  public var size: Int64
  /// Why it is not whole; nil where it is.
  public var error: LiveKitError?
}

/// Images that a job takes of its video.
public struct ImagesInfo: Sendable, Equatable {
  /// What their paths begin with.
  public var filenamePrefix: String
  /// Those that stay.
  public var imageCount: Int
  /// When the first was taken; nil before.
  public var startedAt: Date?
  /// When the last was; nil before.
  public var endedAt: Date?
  /// Why they are not all there; nil where they are.
  public var error: LiveKitError?
}

extension EgressInfo {
  /// In the order in which they were named.
  public var fileResults: [FileInfo] { all(.file).map(FileInfo.init) }
  /// In the order in which they were named.
  public var streamResults: [StreamInfo] { all(.stream).map(StreamInfo.init) }
  /// In the order in which they were named.
  public var segmentResults: [SegmentsInfo] { all(.segments).map(SegmentsInfo.init) }
  /// In the order in which they were named.
  public var imageResults: [ImagesInfo] { all(.images).map(ImagesInfo.init) }

  private func all(_ kind: DestinationStatus.Kind) -> [DestinationStatus] {
    progress.destinations.filter { $0.kind == kind }
  }
}

extension FileInfo {
  fileprivate init(_ status: DestinationStatus) {
    self.init(
      filename: status.filename, location: status.location, parts: status.parts, startedAt: status.startedAt,
      endedAt: status.endedAt, duration: status.duration, size: status.bytes, error: status.failure)
  }
}

extension StreamInfo {
  fileprivate init(_ status: DestinationStatus) {
    let state: Status = status.state == .failed ? .failed : status.state == .complete ? .finished : .active
    self.init(
      url: status.location, status: state, startedAt: status.startedAt, endedAt: status.endedAt,
      duration: status.duration, retries: status.stream?.losses ?? 0, error: status.failure)
  }
}

extension SegmentsInfo {
  fileprivate init(_ status: DestinationStatus) {
    self.init(
      playlistName: status.filename, playlistLocation: status.location, segmentCount: status.segments.count,
      startedAt: status.startedAt, endedAt: status.endedAt, duration: status.duration, size: status.bytes,
      error: status.failure)
  }
}

extension ImagesInfo {
  fileprivate init(_ status: DestinationStatus) {
    self.init(
      filenamePrefix: (status.location as NSString).deletingPathExtension, imageCount: status.segments.count,
      startedAt: status.startedAt, endedAt: status.endedAt, error: status.failure)
  }
}

extension DestinationStatus {
  fileprivate var filename: String { (location as NSString).lastPathComponent }
}
