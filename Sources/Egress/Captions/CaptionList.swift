/// The cues of a file in the order of their beginnings, and what is to be written when another one comes. Pure.
///
/// Cues come in the order in which they end. Where several speak at once nearly each begins before one that is there:
/// written whole each time, a day of them would be far more than its media.
struct CaptionList: Sendable {
  /// What is to be written.
  enum Change: Equatable, Sendable {
    /// In place of what is there.
    case whole(String)
    /// Ahead of what is there last, the tail.
    case insertion(String, tail: String)
  }

  /// How many a cue is put ahead of without all being written anew: what is said at once ends within a minute.
  private static let mostBehind = 50
  private var cues: [CaptionCue] = []

  /// - Parameter isInStep: whether the file holds all that have come, and no more.
  mutating func insert(_ cue: CaptionCue, isInStep: Bool) -> Change {
    let place = (cues.lastIndex { $0.start <= cue.start } ?? -1) + 1
    cues.insert(cue, at: place)
    let behind = cues[(place + 1)...]
    guard isInStep, behind.count <= Self.mostBehind else { return .whole(WebVTT.file(of: cues)) }
    return .insertion(WebVTT.text(of: cue), tail: WebVTT.text(of: behind))
  }
}
