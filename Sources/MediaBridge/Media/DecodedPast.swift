import MediaCore

/// What a decoder that begins makes anew, for it begins with what is kept: nobody sees time go back, or hears what was said
/// long before. Pure.
struct DecodedPast: Sendable {
  /// What may be heard late where a decoder begins for the first time.
  private static let kept = Duration.seconds(1)
  /// The same where one was missing for a while: as much as what comes now may be late.
  private static let late = Duration.milliseconds(250)

  private let shown: MediaTime?
  private let heard: MediaTime
  private let settled: MediaTime

  /// - Parameters:
  ///   - newest: the time of the newest that was decoded before.
  ///   - isRetry: whether a decoder has failed before this one.
  init(newest: MediaTime?, isRetry: Bool = false, at now: MediaTime) {
    let recent = now - (isRetry ? Self.late : Self.kept)
    shown = newest
    heard = max(newest ?? recent, recent)
    settled = now + .seconds(1)
  }

  func wasShown(_ time: MediaTime, at now: MediaTime) -> Bool { shown.map { time < $0 } == true && now < settled }

  func wasHeard(_ time: MediaTime, at now: MediaTime) -> Bool { time <= heard && now < settled }
}
