package import MediaBridge
package import MediaCore

/// What cannot be had of the media that is wanted, as it is published. Pure.
package struct RawRefusals: Sendable {
  /// A track that is taken.
  package struct Held: Sendable {
    /// What it is for: a reader, or the track itself where all go to one reader.
    package var key: String
    package var sid: String
    /// Nil where it can be had, as far as that is known.
    package var refusal: LiveKitError?

    package init(key: String, sid: String, refusal: LiveKitError?) {
      (self.key, self.sid, self.refusal) = (key, sid, refusal)
    }
  }

  /// How long something else may still come, as with `record`.
  private static let patience = Duration.seconds(2)
  /// How many are named.
  private static let most = 5

  /// Also of those who have left: what was missing then is.
  private var refused: [String: (sid: String, reason: LiveKitError)] = [:]
  /// Why nothing comes of tracks that were taken, by SID. Something may still come, which takes it back.
  private var silent: [String: LiveKitError] = [:]
  /// Since when nothing else is taken.
  private var hopelessSince: MediaTime?

  package init() {}

  /// - Parameter held: all that is taken now.
  /// - Returns: whether something is refused that was not before.
  package mutating func note(_ held: [Held], at now: MediaTime) -> Bool {
    var isNews = false
    for track in held {
      let reason = track.refusal ?? silent[track.sid]
      if reason != nil, refused[track.key]?.sid != track.sid { isNews = true }
      refused[track.key] = reason.map { (sid: track.sid, reason: $0) }
    }
    // What is silent is waited for, as with `record`.
    let isHopeless = !held.isEmpty && held.allSatisfy { $0.refusal != nil }
    let since = isNews ? now : hopelessSince ?? now
    hopelessSince = isHopeless ? since : nil
    return isNews
  }

  // MARK: Tracks of which nothing comes

  /// Nothing comes of a track that is taken.
  package mutating func noteSilence(of sid: String, _ reason: LiveKitError) { silent[sid] = reason }

  /// Something comes of it, or it is waited for anew.
  package mutating func forgetSilence(of sid: String) { silent[sid] = nil }

  /// Whether nothing came of it while it was taken last.
  package func isSilent(_ sid: String) -> Bool { silent[sid] != nil }

  // MARK: What is missing

  /// Why nothing is to come; nil while something may.
  package func hopelessness(at now: MediaTime) -> LiveKitError? {
    guard let hopelessSince, now - hopelessSince >= Self.patience else { return nil }
    return lack
  }

  /// Why something is missing; nil where nothing is.
  package var lack: LiveKitError? {
    LiveKitError.joined(refused.sorted { $0.key < $1.key }.map { $0.value.reason }, naming: Self.most)
  }

  /// Why nothing has come when a wait is over, which may be that what is there cannot be had.
  /// - Parameter error: what ended the wait; with `noMedia` somebody did.
  package func reason(_ error: LiveKitError) -> LiveKitError {
    error.ending(lack, isStop: error.code == .noMedia)
  }
}
