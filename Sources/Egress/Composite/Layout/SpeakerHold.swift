import MediaCore

/// Who is large while several speak. Who is stays so until another one has spoken as long as that was asked for, or, once
/// quiet for as long, until another one speaks for more than a cough. A screen share does not wait, and nobody stays who has
/// gone. Pure.
struct SpeakerHold: Sendable {
  /// Somebody's speech, in which a breath is no end.
  private struct Speech {
    var since: MediaTime
    var last: MediaTime
  }

  /// What is shorter is a cough.
  static let cough = Duration.seconds(1)
  /// What is shorter is a breath.
  private static let breath = Duration.milliseconds(800)

  private(set) var held: (sid: String, since: MediaTime)?
  private var speeches: [String: Speech] = [:]

  /// - Parameters:
  ///   - sorted: those who may be large, the best first.
  ///   - hold: zero follows each change at once.
  /// - Returns: who is large; nil where there is nobody.
  mutating func choose(_ sorted: [TileTrack], hold: Duration, at now: MediaTime) -> TileTrack? {
    listen(to: sorted, at: now)
    let best = sorted.first
    let current = held.flatMap { held in sorted.first { $0.sid == held.sid } }
    let next = current.flatMap { successor(of: $0, sorted, hold, at: now) } ?? best
    if next?.sid != held?.sid { held = next.map { ($0.sid, now) } }
    return next
  }

  private mutating func listen(to sorted: [TileTrack], at now: MediaTime) {
    speeches = speeches.filter { known in sorted.contains { $0.sid == known.key } }
    for track in sorted where track.speaker.isSpeaking {
      let began = min(track.speaker.lastSpokeAt ?? now, now)
      let known = speeches[track.sid].flatMap { began - $0.last < Self.breath ? $0 : nil }
      speeches[track.sid] = Speech(since: known?.since ?? began, last: now)
    }
  }

  /// Who follows one who is there; the same where nobody does.
  private func successor(
    of current: TileTrack, _ sorted: [TileTrack], _ hold: Duration, at now: MediaTime
  ) -> TileTrack? {
    guard let best = sorted.first, hold > .zero, best.source != .screenShareVideo else { return sorted.first }
    guard best.sid != current.sid else { return best }
    let isQuiet = speeches[current.sid].map { now - $0.last >= hold } ?? true
    let needed = isQuiet ? min(hold, Self.cough) : hold
    return sorted.first { track in
      guard track.speaker.isSpeaking, track.sid != current.sid, let speech = speeches[track.sid] else { return false }
      return now - max(speech.since, held?.since ?? speech.since) >= needed
    } ?? current
  }
}
