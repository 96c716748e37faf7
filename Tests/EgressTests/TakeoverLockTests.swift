import Glibc
import MediaBridge
import MediaCore
import Testing

@testable import Egress

@Suite struct TakeoverLockTests {
  @Test func whoCanComeBackDoesNotWait() {
    let lock = TakeoverLock()
    let meanwhile = lock.wait { lock.ifFree { 1 } }
    #expect(meanwhile == nil)
    let within = lock.ifFree { lock.ifFree { 1 } == nil }
    #expect(within == true)
    let afterwards = lock.ifFree { 2 }
    #expect(afterwards == 2)
  }

  @Test func oneHasItAtATime() async {
    let (lock, state) = (TakeoverLock(), Locked((isHad: false, wasShared: false)))
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let first = Task.detached {
      lock.wait {
        state.withLock { $0.isHad = true }
        begin.finish()
        usleep(50_000)
        state.withLock { $0.isHad = false }
      }
    }
    for await _ in begun {}
    lock.wait { state.withLock { $0.wasShared = $0.isHad } }
    await first.value
    #expect(!state.withLock { $0.wasShared })
  }

  @Test func whoFailsHasItNoMore() {
    let lock = TakeoverLock()
    #expect(throws: LiveKitError.self) {
      try lock.ifFree { () throws(LiveKitError) -> Int in throw LiveKitError(.output, "it is full") }
    }
    #expect(throws: LiveKitError.self) {
      try lock.wait { () throws(LiveKitError) -> Int in throw LiveKitError(.output, "it is full") }
    }
    let afterwards = lock.ifFree { 2 }
    #expect(afterwards == 2)
  }
}
