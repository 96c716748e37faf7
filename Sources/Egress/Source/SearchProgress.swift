import MediaCore

/// How far the search for a participant has come, and how long it goes on. Pure.
struct SearchProgress<Participant: AnyObject & Sendable>: Sendable {
  /// How long the tracks of one participant may come apart before what is missing is taken as not being there.
  static var pairing: Duration { .seconds(2) }

  private var told: String?
  /// Of whom something flows, and since when.
  private var first: (participant: Participant, since: MediaTime)?
  /// Since when there is nobody but those who cannot be recorded.
  private var hopelessSince: MediaTime?

  /// When it began.
  private var begun: MediaTime?
  private var isLong = false
  /// Who or what was there instead, when that was noted.
  private(set) var hint: String?

  /// When there is something to decide without anything new.
  var nextDeadline: MediaTime? {
    [first?.since, hopelessSince, isLong ? nil : begun].compactMap { $0 }.min().map { $0 + Self.pairing }
  }

  /// - Returns: whether it has taken so long that a name may be wrong.
  mutating func takesLong(at time: MediaTime) -> Bool {
    let since = begun ?? time
    begun = since
    isLong = time - since >= Self.pairing
    return isLong
  }

  /// Notes who or what is there instead of what is waited for, once: whoever comes later and goes is no news.
  mutating func note(hint: String?) { self.hint = self.hint ?? hint }

  /// - Parameter missing: what is waited for, in words.
  /// - Returns: whether it is to be told: something else was, and nothing flows.
  mutating func isNews(_ missing: String) -> Bool {
    guard first == nil, told != missing else { return false }
    told = missing
    return true
  }

  /// Something of a participant flows. Whoever was found stays found.
  /// - Returns: until when the other tracks are waited for.
  mutating func flows(_ participant: Participant, at time: MediaTime) -> MediaTime {
    let since = first.flatMap { $0.participant === participant ? $0.since : nil } ?? time
    first = (participant, since)
    return since + Self.pairing
  }

  /// Nothing flows any more.
  mutating func lost() { first = nil }

  func isFirst(_ participant: Participant) -> Bool { first?.participant === participant }

  /// Somebody may still be recorded.
  mutating func hasHope() { hopelessSince = nil }

  /// Nobody can be recorded.
  /// - Returns: whether that has been so for long enough.
  mutating func isOver(at time: MediaTime) -> Bool {
    let since = hopelessSince ?? time
    hopelessSince = since
    return time - since >= Self.pairing
  }
}
