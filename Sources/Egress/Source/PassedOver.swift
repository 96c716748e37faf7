import MediaBridge

/// Those who would fit as well as the one who is recorded: whoever takes one for the whole room is to know. Pure.
struct PassedOver: Sendable {
  private(set) var identities: Set<String> = []
  /// Somebody may come back under another name again and again.
  static let limit = 1000

  /// - Returns: whether somebody is new.
  mutating func note(_ others: some Sequence<String>) -> Bool {
    let before = identities.count
    for identity in others where identities.count < Self.limit { identities.insert(identity) }
    return identities.count > before
  }

  /// Who they are, and how to have them; nil where there is nobody.
  /// - Parameter recorded: the identity of who is recorded.
  func omission(besides recorded: String) -> Omission? {
    let more = identities.count < Self.limit ? "more" : "more at least"
    guard let names = RoomCensus.list(identities.sorted(), more: more) else { return nil }
    return Omission(
      sid: "", kind: .none, source: .unknown, participant: "",
      reason: "\(names): \(recorded) alone is taken; --composite grid mixes all, --each participant gives each a file",
      wasWanted: false)
  }
}
