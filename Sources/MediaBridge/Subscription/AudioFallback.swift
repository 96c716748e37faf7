import MediaCore

/// What is asked of a track at most, because the way to here is too narrow or this machine too slow.
enum VideoRestriction: Hashable, Sendable {
  case none
  /// The smallest layer of a simulcast track.
  case lowestLayer
  /// Nothing: the video is dropped.
  case noVideo
}

/// Decides when the video of a track is dropped for the audio, and when it is tried again. No clock and no I/O:
/// times and what was measured come in.
///
/// Loss that lasts, on the way or because the decoder falls behind, lowers what is asked for, first to the smallest
/// layer, then to nothing. Each step up again is a try: it comes after a wait in which all was well, and one that fails
/// doubles the wait. Between the loss that is too much and the one that is none lies a range in which everything stays
/// as it is.
struct AudioFallback: Sendable {
  struct Observation: Sendable {
    /// The share of the track's packets that was lost: for good, or at all where the audio has to pay for the repairs.
    /// nil when there is nothing to tell.
    var loss: Double?
    /// The share of its frames for which the decoder was too slow; nil when there is nothing to tell.
    var undecoded: Double?
    /// Whether what is asked for can be lowered without dropping the video.
    var hasLowerLayer: Bool
    /// Whether everything else comes well, and is decoded.
    var isRestWell: Bool

    /// Whichever is the larger one.
    fileprivate var missing: Double? { [loss, undecoded].compactMap(\.self).max() }
  }

  /// How often it is measured and decided.
  static let interval = Duration.seconds(1)
  /// More is too much: what a decoder gets then mostly freezes.
  static let heavyLoss = 0.1
  /// Less is none.
  static let lightLoss = 0.02
  /// How long it has to be too much.
  static let patience = Duration.seconds(5)
  /// The same soon after a try.
  static let patienceWithTries = Duration.seconds(2)
  static let firstWait = Duration.seconds(8)
  static let longestWait = Duration.seconds(120)
  /// A try that has lasted so long has succeeded: the next wait is the first one again.
  static let proof = Duration.seconds(30)
  /// How long a try is watched with less patience, and other tracks wait with theirs.
  static let trial = Duration.seconds(10)

  private(set) var restriction = VideoRestriction.none
  private var heavySince: MediaTime?
  private var wellSince: MediaTime?
  private var wait = firstWait
  private var lastTry: MediaTime?

  /// - Returns: whether `restriction` is another one now.
  mutating func poll(_ observation: Observation, at time: MediaTime) -> Bool {
    if let lastTry, time - lastTry >= Self.proof { (self.lastTry, wait) = (nil, Self.firstWait) }
    note(observation, at: time)
    let patience = isTrying(at: time) ? Self.patienceWithTries : Self.patience
    if let heavySince, time - heavySince >= patience { return lower(observation, at: time) }
    if let wellSince, time - wellSince >= wait { return raise(observation, at: time) }
    return false
  }

  /// Whether it has just been asked for more.
  func isTrying(at time: MediaTime) -> Bool { lastTry.map { time - $0 < Self.trial } ?? false }

  private mutating func note(_ observation: Observation, at time: MediaTime) {
    // Frames that do not come cannot say how they would.
    let loss = restriction == .noVideo ? 0 : observation.missing
    if loss ?? 0 <= Self.lightLoss {
      heavySince = nil
    } else if loss ?? 0 >= Self.heavyLoss {
      heavySince = heavySince ?? time
    }
    let isWell = observation.isRestWell && loss.map { $0 <= Self.lightLoss } ?? false
    wellSince = isWell && restriction != .none ? wellSince ?? time : nil
  }

  private mutating func lower(_ observation: Observation, at time: MediaTime) -> Bool {
    if lastTry != nil { wait = min(wait * 2, Self.longestWait) }
    lastTry = nil
    return change(to: restriction == .none && observation.hasLowerLayer ? .lowestLayer : .noVideo)
  }

  private mutating func raise(_ observation: Observation, at time: MediaTime) -> Bool {
    lastTry = time
    return change(to: restriction == .noVideo && observation.hasLowerLayer ? .lowestLayer : .none)
  }

  private mutating func change(to new: VideoRestriction) -> Bool {
    (heavySince, wellSince) = (nil, nil)
    defer { restriction = new }
    return new != restriction
  }
}
