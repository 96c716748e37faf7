import MediaCore

/// Keeps requests for keyframes apart and repeats them until one comes.
struct KeyframeRequester: Sendable {
  /// A keyframe costs the sender many ordinary frames, so that decoders that cry together get one.
  private static let shortestInterval = Duration.milliseconds(300)
  private static let retryInterval = Duration.milliseconds(600)

  private var notBefore: MediaTime?
  private var lastRequest: MediaTime?

  var isWanted: Bool { notBefore != nil }

  /// Wants a keyframe from `time` on; nil means at once.
  mutating func request(at time: MediaTime? = nil) {
    let earliest = lastRequest.map { $0 + Self.shortestInterval } ?? MediaTime(nanoseconds: 0)
    let wanted = max(earliest, time ?? earliest)
    notBefore = min(notBefore ?? wanted, wanted)
  }

  mutating func arrived() { notBefore = nil }

  var nextDeadline: MediaTime? { notBefore }

  /// True when a request is to be sent now.
  /// - Parameter repeats: whether `arrived()` will be called; else one request is all.
  mutating func poll(at time: MediaTime, repeats: Bool) -> Bool {
    guard let notBefore, notBefore <= time else { return false }
    lastRequest = time
    self.notBefore = repeats ? time + Self.retryInterval : nil
    return true
  }
}
