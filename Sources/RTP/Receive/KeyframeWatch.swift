import MediaCore

/// Decides when a keyframe is asked for: when the stream begins without one, and when somebody needs one.
struct KeyframeWatch: Sendable {
  /// None would come, and the stream goes on with one: what was to be asked for waits.
  var isPaused = false
  private var requester = KeyframeRequester()
  /// Of the packets that begin a keyframe, the highest number.
  private var newest: Int64?
  /// A keyframe answers the request from this number on; an older one may still come as a retransmission.
  private var wantedFrom = Int64.min
  /// Whether its codec is looked into, so that the answer to a request is seen.
  private var recognises = false

  /// The first packet of the first keyframe may just be late.
  private static let patience = Duration.milliseconds(50)

  /// Asks at once, or when the last request is old enough; not at all where one has come that is newer than `number`.
  /// - Parameter number: of the newest packet that came, or is lost, before the keyframe.
  mutating func request(behind number: Int64) {
    guard newest.map({ $0 <= number }) ?? true else { return }
    wantedFrom = max(wantedFrom, number)
    requester.request()
  }

  /// Notes a packet of frames in a codec that is looked into.
  /// - Parameters:
  ///   - isKeyframe: whether a keyframe begins with it.
  ///   - mayAsk: whether a beginning without a keyframe is a reason to ask for one.
  mutating func note(_ number: Int64, isKeyframe: Bool, mayAsk: Bool, at time: MediaTime) {
    recognises = true
    if isKeyframe {
      let isAnswer = newest == nil || number >= wantedFrom
      newest = max(newest ?? number, number)
      if isAnswer { requester.arrived() }
    } else if newest == nil, mayAsk, !requester.isWanted {
      requester.request(at: time + Self.patience)
    }
  }

  var nextDeadline: MediaTime? { isPaused ? nil : requester.nextDeadline }

  /// True when a request is to be sent now.
  mutating func poll(at time: MediaTime) -> Bool { !isPaused && requester.poll(at: time, repeats: recognises) }
}
