import MediaCore

/// The labels that are shown now: one of the whole frame, and one of each participant. Pure.
struct LabelBoard: Sendable {
  private struct Shown {
    let text: String
    let end: MediaTime?
  }

  /// By identity; that of the whole frame under nil.
  private var shown: [String?: Shown] = [:]

  /// In the place of the one before.
  mutating func set(_ label: CompositeLabel, at now: MediaTime) {
    let end = label.duration.map { now + $0 }
    shown[label.participant] = label.text.isEmpty ? nil : Shown(text: label.text, end: end)
  }

  /// - Returns: those whose time is over, as ones that show nothing.
  mutating func expire(at now: MediaTime) -> [CompositeLabel] {
    let over = shown.filter { $0.value.end.map { $0 <= now } ?? false }.map(\.key)
    for participant in over { shown[participant] = nil }
    return over.map { CompositeLabel("", participant: $0) }
  }

  /// - Returns: whether there was one of theirs.
  mutating func forget(_ participant: String) -> Bool { shown.removeValue(forKey: participant) != nil }

  /// - Parameter participant: nil for the whole frame.
  func text(of participant: String?) -> String? { shown[participant]?.text }
}
