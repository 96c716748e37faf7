import MediaCore

/// Decides when a keyframe is asked for: when the stream begins without one, and when somebody needs one.
struct KeyframeWatch: Sendable {
  /// None would come, and the stream goes on with one: what was to be asked for waits.
  var isPaused = false
  private var requester = KeyframeRequester()
  private var hasSeenOne = false
  /// Whether its codec is looked into, so that the answer to a request is seen.
  private var recognises = false

  /// The first packet of the first keyframe may just be late.
  private static let patience = Duration.milliseconds(50)

  /// Asks at once, or when the last request is old enough.
  mutating func request() { requester.request() }

  /// Notes a packet of frames in a codec that is looked into.
  /// - Parameter mayAsk: whether a beginning without a keyframe is a reason to ask for one.
  mutating func note(isKeyframe: Bool, mayAsk: Bool, at time: MediaTime) {
    recognises = true
    if isKeyframe {
      hasSeenOne = true
      requester.arrived()
    } else if !hasSeenOne, mayAsk, !requester.isWanted {
      requester.request(at: time + Self.patience)
    }
  }

  var nextDeadline: MediaTime? { isPaused ? nil : requester.nextDeadline }

  /// True when a request is to be sent now.
  mutating func poll(at time: MediaTime) -> Bool { !isPaused && requester.poll(at: time, repeats: recognises) }
}
