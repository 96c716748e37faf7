/// When an encoder is to make a keyframe, or a sender to be asked for one, so that each destination gets one as often as it
/// needs. Pure.
struct KeyframePace: Sendable {
  /// How long ahead it is asked for: a sender needs a moment for it.
  private let lead: Duration
  /// The longest time between two keyframes; nil where nobody minds.
  var interval: Duration?
  /// From when on somebody waits for one; nil where nobody does.
  private(set) var awaited: Duration?
  private var newestFrame: Duration?
  /// The newest keyframe, made or asked for.
  private var newestKeyframe: Duration?

  init(lead: Duration = .zero) { self.lead = lead }

  /// Whether one came out. x264enc of GStreamer 1.22 takes no request before its first output: asked so early, it takes no
  /// other one any more.
  var hasBegun: Bool { newestKeyframe != nil }

  /// Notes a keyframe that came out.
  /// - Returns: where it is the first, the time from which on somebody waits for one, if frames of that time have gone in
  ///   by now: the encoder could not be asked when they did, and is to be now, since they may still wait for it.
  @discardableResult
  mutating func made(at time: Duration) -> Duration? {
    let isFirst = !hasBegun
    newestKeyframe = max(newestKeyframe ?? time, time)
    guard isFirst, let awaited, awaited > time, let newestFrame, newestFrame >= awaited else { return nil }
    (newestKeyframe, self.awaited) = (awaited, nil)
    return awaited
  }

  /// Has the first frame at that time or after it become one.
  /// - Returns: when it is: not before anybody has asked for it, since one is for all who wait.
  mutating func await(from time: Duration) -> Duration {
    let time = max(awaited ?? time, time)
    awaited = time
    return time
  }

  /// Whether the frame that goes in now has to become a keyframe, since the next one would be too late.
  mutating func isDue(at time: Duration) -> Bool {
    let gap = newestFrame.map { time - $0 } ?? .zero
    newestFrame = time
    // An encoder begins with one.
    if let awaited, hasBegun, time >= awaited {
      (newestKeyframe, self.awaited) = (time, nil)
      return true
    }
    guard let interval, let last = newestKeyframe, time + gap + lead > last + interval else { return false }
    newestKeyframe = time
    return true
  }
}
