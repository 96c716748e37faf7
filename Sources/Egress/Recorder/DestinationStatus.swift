public import Foundation
public import MediaBridge
import PipelineTemplates

/// How one of the destinations of an output is.
public struct DestinationStatus: Sendable, Equatable {
  /// Goes one way, but for a live server that is lost and comes back.
  public enum State: String, Sendable {
    /// Nothing has come to it yet.
    case starting
    /// It is written.
    case active
    /// Its live server is lost and tried again; what comes meanwhile is not sent.
    case reconnecting
    /// Nothing comes any more, and it is being completed.
    case ending
    /// It was completed and closed.
    case complete
    /// It could not go on, or could not be completed; what was written before stays.
    case failed
  }

  /// What is written, by its template.
  public enum Kind: String, Sendable {
    /// One file, or several parts.
    case file
    /// To a live server.
    case stream
    /// A playlist with its segments.
    case segments
    /// An image every few seconds.
    case images
    /// On this machine's screen.
    case window
  }

  /// A file's path, or an address without what may be a secret in it.
  public var location: String
  /// What is written.
  public var kind: Kind
  /// Whether it is a path, and no address.
  public var isFile: Bool { kind != .stream && kind != .window }
  /// Where it is on its way.
  public var state: State
  /// Whether nothing comes to it any more, whatever has become of it.
  package var hasEnded: Bool { [.complete, .failed].contains(state) }
  /// When its first moment was written; nil before.
  public var startedAt: Date?
  /// When it was closed; nil before.
  public var endedAt: Date?
  /// Media written; of a file that has ended, what it really holds, where that can be read.
  public var duration: Duration = .zero
  /// Size of all its files; 0 for what is no file.
  public var bytes: Int64 = 0
  /// At most one of video and one of audio, as they go to this destination.
  public var tracks: [OutputTrack] = []
  /// What it has of video and audio though no track has come: black and silence.
  public var standIns: [OutputTrack] = []
  /// The files besides the one that was asked for, in the order in which they began.
  public var parts: [String] = []
  /// The files that are whole and closed, which others may take: segments that are still there, then the files that list
  /// them or hold everything, each in the order in which they began.
  public var completedFiles: [String] = []
  /// Paths of the segments that its playlist lists or has listed, as far as they are complete and still there; empty for
  /// what holds everything itself.
  public var segments: [String] = []
  /// What is written of what is said; nil where nothing is to be.
  public var captions: CaptionStatus?
  /// In the order in which they came.
  public var codecChanges: [CodecChange] = []
  /// In the order in which they took over.
  public var reloads: [TemplateReload] = []
  /// Of the connection with its live server; nil for a file.
  public var stream: StreamStatus?
  /// What it lacks because its disk, or its live server, does not take it as fast as it comes; nil where nothing is
  /// missing, and for a window. A file fails for that, in the end; a live stream does not.
  public var missing: MediaLoss?
  /// Why parts that have ended are not complete, each with its path. Their destination goes on, and fails in the end.
  public var incompleteParts: [LiveKitError] = []
  /// Why it failed, with its location in the message; nil in any other state.
  public var failure: LiveKitError?

  /// - Parameter segments: how it is cut, where it is.
  init(_ destination: Destination, _ state: State, segments: SegmentOptions? = nil) {
    (location, self.state) = (destination.shown, state)
    kind =
      if destination.isWindow {
        .window
      } else if !destination.isFile {
        .stream
      } else if let segments {
        segments.imageInterval == nil ? .segments : .images
      } else {
        .file
      }
  }
}
