import MediaBridge
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
