import Egress
import MediaBridge
import MediaCore

extension RawSession {
  /// How the media is asked of the server.
  struct Wish: Sendable {
    var size: Dimensions?
    var fps: Int?
  }

  /// What is asked for.
  struct Request: Sendable {
    var choice: RawChoice
    var extent: Extent
    var wish = Wish()
    /// Frames a second that are written, whatever comes; nil for frames as they come.
    var rate: Int?
    /// Whether a stream is complete when its participant leaves.
    var endsWithParticipant: Bool
    /// Whether a destination's name is only known with a track.
    var waitsForName = false

    /// How often streams see to what does not come: audio, and frames at a rate, go on without any. Ten times a second
    /// cost a fiftieth of what decoding 1280x720 does.
    var pace: Duration { choice.kind == .video && rate == nil ? .milliseconds(250) : .milliseconds(100) }

    var unit: String { choice.kind == .video ? "frames" : "samples" }
    /// In a room that others share, what is sent is as large and as often as all of them need it.
    var need: OutputNeed { wish.size == nil && wish.fps == nil ? .everything : .shown }
  }

  /// Whose media is taken.
  enum Extent: Sendable {
    /// Of one participant, the first one where none is named.
    case one
    /// Of all, for one reader.
    case all
    /// Of each, for a reader of their own.
    case each
  }
}

/// Whose media a stream has, as far as that is known when it is made.
struct RawSubject: Sendable {
  /// Empty where each participant has no stream of their own.
  var identity = ""
  /// Nil before somebody has come.
  var participant: RemoteParticipant?
  var publication: RemoteTrackPublication?
}
