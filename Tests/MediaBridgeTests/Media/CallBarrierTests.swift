import BridgeTesting
import Dispatch
import Foundation
import MediaCore
import Testing

@testable import MediaBridge

@Suite struct CallBarrierTests {
  /// A renderer is told things on the main actor while its queue is in a call.
  @Test func aLaterCallIsNotTheEndOfTheOneThatIsWaitedFor() async throws {
    let barrier = CallBarrier()
    let (isInside, isOver) = (Locked(false), Locked(false))
    let mayLeave = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      barrier.enter()
      isInside.withLock { $0 = true }
      mayLeave.wait()
      barrier.leave()
    }
    try await eventually("the call") { isInside.withLock { $0 } }
    Thread.detachNewThread {
      barrier.waitForCallsUnderWay()
      isOver.withLock { $0 = true }
    }
    // Some of them come once the wait has begun.
    for _ in 0..<100 {
      barrier.enter()
      barrier.leave()
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(isOver.withLock { $0 } == false)
    mayLeave.signal()
    try await eventually("the end of the wait") { isOver.withLock { $0 } }
  }

  @Test func nobodyWaitsForACallOfTheirOwn() {
    let barrier = CallBarrier()
    for _ in 0..<2 { barrier.enter() }
    barrier.waitForCallsUnderWay()
    barrier.leave()
    barrier.waitForCallsUnderWay()
    barrier.leave()
  }
}
