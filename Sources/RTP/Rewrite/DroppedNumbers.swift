/// Numbers of a stream that are left out on the way, so that those behind them close up.
struct DroppedNumbers: Sendable {
  /// Ascending.
  private var recent: [Int64] = []
  /// Of those, how many are not kept any more: nothing comes late enough to lie before one of them.
  private var forgotten: Int64 = 0
  private static let limit = 512

  /// - Parameter number: above all that were appended before.
  mutating func append(_ number: Int64) {
    recent.append(number)
    guard recent.count == 2 * Self.limit else { return }
    recent.removeFirst(Self.limit)
    forgotten += Int64(Self.limit)
  }

  func count(before number: Int64) -> Int64 {
    // Nearly every packet is the newest, so the search begins at the end.
    forgotten + Int64((recent.lastIndex { $0 < number } ?? -1) + 1)
  }
}
