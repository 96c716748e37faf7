import BridgeTesting
import Dispatch
import Foundation
import MediaCore
import Testing

@testable import MediaBridge

private final class Token: Sendable {}

@Suite struct RendererListTests {
  private func pause() { usleep(200) }

  @Test func aSlowRendererLosesItsOldestAndSlowsNobodyElse() async throws {
    let list = RendererList<Int>(limit: 3)
    let (slow, quick) = (Token(), Token())
    let (shown, all) = (Collector<Int>(), Collector<Int>())
    let isStuck = DispatchSemaphore(value: 0)
    _ = list.add(slow) { number in
      shown.add(number)
      isStuck.wait()
    }
    _ = list.add(quick) { all.add($0) }
    for number in 0..<200 {
      list.deliver(number)
      pause()
    }
    // The slow one is still at its first.
    try await eventually("all for the quick one") { all.values == Array(0..<200) }
    #expect(shown.values == [0])
    #expect(list.dropped(of: slow) == 196 && list.dropped(of: quick) == 0)
    for _ in 0..<4 { isStuck.signal() }
    try await eventually("the newest for the slow one") { shown.values == [0, 197, 198, 199] }
    #expect(list.remove(slow) && list.dropped(of: slow) == nil)
  }

  @Test func aRendererThatProvesQuickIsCalledOnTheMediaThreadUntilItIsNot() async throws {
    let list = RendererList<Int>(limit: 3)
    let renderer = Token()
    let threads = Collector<Bool>()
    let media = Locked(pthread_self())
    let slowNumber = Locked(-1)
    _ = list.add(renderer) { number in
      threads.add(pthread_equal(pthread_self(), media.withLock { $0 }) != 0)
      if slowNumber.withLock({ $0 }) == number { usleep(20_000) }
    }
    func deliver(_ number: Int) async throws {
      media.withLock { $0 = pthread_self() }
      list.deliver(number)
      try await eventually("the call") { threads.count == number + 1 }
    }
    for number in 0..<40 { try await deliver(number) }
    #expect(!threads.values[0] && threads.values[35...].allSatisfy { $0 })
    slowNumber.withLock { $0 = 40 }
    for number in 40..<45 { try await deliver(number) }
    #expect(threads.values[40] && threads.values[41...].allSatisfy { !$0 })
  }

  @Test func afterRemoveNoCallComes() async throws {
    for round in 0..<200 {
      let list = RendererList<Int>(limit: 3)
      let renderer = Token()
      let isRemoved = Locked(false)
      let calls = Collector<Bool>()
      _ = list.add(renderer) { _ in calls.add(isRemoved.withLock { $0 }) }
      let media = Task.detached { for number in 0..<60 { list.deliver(number) } }
      if round % 2 == 0 { await Task.yield() }
      #expect(list.remove(renderer) && !list.remove(renderer))
      isRemoved.withLock { $0 = true }
      await media.value
      #expect(calls.values.allSatisfy { !$0 })
    }
  }

  @Test(arguments: [1, 50]) func aRendererMayRemoveItselfFromWithinACall(after calls: Int) async throws {
    let list = RendererList<Int>(limit: 100)
    let renderer = Token()
    let shown = Collector<Int>()
    _ = list.add(renderer) { [unowned renderer] number in
      shown.add(number)
      if shown.count == calls { _ = list.remove(renderer) }
    }
    for number in 0..<100 {
      list.deliver(number)
      pause()
    }
    try await eventually("its last call") { shown.count == calls }
    #expect(list.isEmpty && shown.values == Array(0..<calls))
  }

  @Test func eachIsThereOnceAndHeldUntilItIsRemoved() {
    let list = RendererList<Int>(limit: 1)
    weak var held: Token?
    do {
      let renderer = Token()
      held = renderer
      let added = [0, 1].map { _ in list.add(renderer) { _ in withExtendedLifetime(renderer) {} } }
      #expect(added == [true, false])
    }
    #expect(held.map(list.remove) == true)
    #expect(held == nil)
  }
}
