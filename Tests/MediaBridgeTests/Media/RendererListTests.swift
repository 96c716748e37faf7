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
      _ = isStuck.wait(timeout: .now() + 20)
    }
    _ = list.add(quick) { all.add($0) }
    for number in 0..<200 {
      list.deliver(number)
      try await eventually("the number for the quick one") { all.values.last == number }
    }
    #expect(all.values == Array(0..<200))
    // The slow one is still at its first.
    #expect(shown.values == [0])
    let dropped = try #require(list.dropped(of: slow))
    // As many as may wait of what comes in no time, or fewer where this took long.
    #expect((200 - 1 - 12...200 - 1 - 3).contains(dropped) && list.dropped(of: quick) == 0)
    for _ in 0..<200 { isStuck.signal() }
    try await eventually("the newest for the slow one") { shown.values == [0] + Array(dropped + 1..<200) }
    #expect(list.remove(slow) && list.dropped(of: slow) == nil)
  }

  /// More of them than there are processors: each has a thread of its own while it is stuck.
  @Test func renderersThatBecomeSlowHoldUpNeitherTheOthersNorTheMediaThread() async throws {
    let list = RendererList<Int>(limit: 3)
    let (stuck, quick) = ((0..<20).map { _ in Token() }, Token())
    let isStuck = DispatchSemaphore(value: 0)
    let calls = Collector<Int>()
    let shown = Collector<(number: Int, at: MediaTime)>()
    for token in stuck {
      _ = list.add(token) { number in
        calls.add(number)
        if number >= 100 { _ = isStuck.wait(timeout: .now() + 3) }
      }
    }
    _ = list.add(quick) { shown.add(($0, .now)) }
    for number in 0..<100 {
      list.deliver(number)
      try await eventually("the quick calls") { calls.count == (number + 1) * stuck.count }
    }
    let begun = MediaTime.now
    for number in 100..<150 {
      let sent = MediaTime.now
      list.deliver(number)
      try #require(MediaTime.now - sent < .milliseconds(500))
      try await eventually("the other renderer's frame", within: .seconds(1)) { shown.values.last?.number == number }
    }
    #expect(shown.values.map(\.number) == Array(0..<150))
    #expect(calls.count == 101 * stuck.count)
    // Whoever removes one waits for the call that is under way, and for no other.
    let removal = Task.detached { list.remove(stuck[0]) }
    #expect(list.remove(quick))
    for _ in 0..<1000 { isStuck.signal() }
    #expect(await removal.value)
    #expect(MediaTime.now - begun < .seconds(10))
    for token in stuck.dropFirst() { #expect(list.remove(token)) }
  }

  /// Only what never blocks saves the wake-up.
  @Test func aPromptRendererIsCalledOnTheMediaThread() {
    let list = RendererList<Int>(limit: 3)
    let renderer = Token()
    let shown = Collector<Int>()
    _ = list.add(renderer, calls: RendererCalls(isPrompt: true) { shown.add($0) })
    for number in 0..<100 {
      list.deliver(number)
      #expect(shown.count == number + 1)
    }
    #expect(list.remove(renderer))
    list.deliver(100)
    #expect(shown.count == 100)
  }

  /// Also one of a program's own, which does not say that it wants no sizes.
  @Test func aVideoTrackWakesNoThreadForAPromptRenderer() {
    final class Counter: VideoRenderer, PromptRenderer, Sendable {
      func render(frame: VideoFrame) {}
    }
    #expect(RemoteVideoTrack.calls(Counter()).isPrompt)
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

extension RendererList {
  fileprivate func add(_ renderer: AnyObject, call: @escaping @Sendable (Media) -> Void) -> Bool {
    add(renderer, calls: RendererCalls(render: call))
  }
}
