import BridgeTesting
import Dispatch
import MediaCore
import Testing

@testable import Egress

@Suite("A look at a disk") struct DiskLookTests {
  @Test func itSeesWhatIsThereNow() {
    let there = Locked(1)
    let look = DiskLook(0) { there.withLock { $0 } }
    #expect(look.newest == 1)
    there.withLock { $0 = 2 }
    #expect(look.newest == 2)
  }

  /// As where the server of a mount is away. Each wait on its own would be five minutes.
  @Test(.timeLimit(.minutes(1))) func aDiskThatDoesNotAnswerIsWaitedForOnce() async throws {
    let answer = DispatchSemaphore(value: 0)
    let look = DiskLook("before", patience: .milliseconds(100)) {
      answer.wait()
      return "after"
    }
    #expect((0..<3000).allSatisfy { _ in look.newest == "before" })
    for _ in 0..<100 { answer.signal() }
    try await eventually("what is there now") { look.newest == "after" }
  }
}
