import MediaBridge

/// What of a mixed room was left out because the machine, or what came, was too slow. Audio is never left out for the sake of
/// video.
public struct MixLosses: Sendable, Equatable {
  /// Frames that were not mixed, evenly many, so that the others come in time.
  public var framesNotMixed = 0
  /// Frames of participants that waited too long to be mixed, and were not seen.
  public var framesDropped = 0
  /// Frames of participants that came long before the moment at which they are said to be taken, and were seen
  /// before the audio of that moment is heard.
  public var framesAhead = 0
  /// Blocks of audio of participants that waited too long to be mixed, and were not heard.
  public var audioDropped = 0
  /// Blocks of audio of participants that came later than `audio-delay`, and were not heard.
  public var audioLate = 0

  /// What a composite has that loses nothing.
  public init() {}

  /// With what another one says of a kind.
  func with(_ kind: Track.Kind, of other: Self) -> Self {
    var losses = self
    if kind == .video {
      (losses.framesNotMixed, losses.framesDropped) = (other.framesNotMixed, other.framesDropped)
      losses.framesAhead = other.framesAhead
    } else {
      (losses.audioDropped, losses.audioLate) = (other.audioDropped, other.audioLate)
    }
    return losses
  }

  static func + (one: Self, other: Self) -> Self {
    var sum = one
    sum.framesNotMixed += other.framesNotMixed
    sum.framesDropped += other.framesDropped
    sum.framesAhead += other.framesAhead
    sum.audioDropped += other.audioDropped
    sum.audioLate += other.audioLate
    return sum
  }
}
