import Foundation
import MediaCore
import Testing

@testable import PeerTransport

@Suite struct TransportLoopTests {
  /// The system gives the name of a thread that has ended to the next one.
  @Test func noOtherThreadIsTakenForOneThatHasEnded() async {
    let loop = TransportLoop(name: "ended")
    await loop.stop()
    for _ in 0..<20 {
      let isCurrent = await withCheckedContinuation { continuation in
        Thread { continuation.resume(returning: loop.isCurrent) }.start()
      }
      #expect(!isCurrent)
    }
  }
}
