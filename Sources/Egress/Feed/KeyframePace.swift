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

  /// Whether one came out. x264enc of GStreamer 1.22 that is asked for one before that takes no other request any more.
  var hasBegun: Bool { newestKeyframe != nil }

  /// Notes a keyframe that came out.
  mutating func made(at time: Duration) { newestKeyframe = max(newestKeyframe ?? time, time) }

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
