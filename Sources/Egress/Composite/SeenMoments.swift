import MediaCore

/// When frames of a track are seen. Pure.
///
/// A sender may say that they are of a moment still to come. Those that wait for long fill the tile's queue, whose
/// oldest go, and these are due next: none would ever be seen. Out of step with the audio they are.
struct SeenMoments: Sendable {
  /// More than that waits in vain.
  static let farthest = Duration.milliseconds(500)

  /// How many were farther ahead.
  private(set) var ahead = 0

  /// - Parameter time: at which a frame is to be seen.
  /// - Returns: at which it is.
  mutating func moment(of time: MediaTime, at now: MediaTime) -> MediaTime {
    guard time - now > Self.farthest else { return time }
    ahead += 1
    return now + Self.farthest
  }
}
