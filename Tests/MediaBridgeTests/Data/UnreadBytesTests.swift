import MediaCore
import Testing

@testable import MediaBridge

@Suite struct UnreadBytesTests {
  private static let limit = UnreadBytes.limit

  @Test func ofOneStreamIsBounded() {
    let unread = UnreadBytes(of: Locked(0))
    #expect(unread.add(Self.limit) == nil && unread.add(1) == Self.limit)
    unread.remove(1)
    #expect(unread.add(1) == nil)
  }

  @Test func ofAllStreamsOfASenderIsBounded() {
    let total = Locked(0)
    var streams = (0..<2).map { _ in UnreadBytes(of: total) }
    #expect(streams.allSatisfy { $0.add(Self.limit) == nil })
    let another = UnreadBytes(of: total)
    #expect(another.add(1) == UnreadBytes.totalLimit)
    // Nobody can read what waits in it any more.
    streams.removeLast()
    #expect(another.add(1) == nil && total.withLock { $0 } == Self.limit + 1)
  }

  @Test func aSenderIsKnownAsLongAsSomethingOfTheirsMayBeRead() {
    var totals = UnreadTotals()
    let kept = totals.unread(of: "alice")
    #expect(kept.add(1) == nil)
    for number in 0..<300 { _ = totals.unread(of: "call \(number)") }
    _ = totals.unread(of: "bob")
    #expect(totals.count == 2)
    let before = totals.total(of: "alice")
    totals.forget("alice")
    let after = totals.total(of: "alice")
    #expect(before.withLock { $0 } == 1 && after.withLock { $0 } == 0)
    withExtendedLifetime(kept) {}
  }
}
