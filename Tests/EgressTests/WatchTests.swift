import BridgeTesting
import Dispatch
import Foundation
import MediaCore
import Testing

@testable import Egress

@Suite struct WatchTests {
  /// As where the next parts of several files are to be opened on a disk that hangs.
  @Test func looksThatWaitHoldUpNoTask() async throws {
    let (gate, waiting, late) = (DispatchSemaphore(value: 0), Collector<Int>(), Collector<Int>())
    let watches = (0...ProcessInfo.processInfo.activeProcessorCount).map { _ in Watch() }
    for (number, watch) in watches.enumerated() {
      watch.start {
        waiting.add(number)
        if gate.wait(timeout: .now() + .seconds(10)) == .timedOut { late.add(number) }
        return nil
      }
    }
    try await eventually("that all of them wait") { waiting.count == watches.count }
    for _ in watches { gate.signal() }
    for watch in watches { await watch.stop() }
    #expect(late.values.isEmpty, "no task ran meanwhile")
  }

  @Test func itLooksAgainUntilItIsStopped() async throws {
    let looks = Collector<Int>()
    let watch = Watch()
    watch.start {
      looks.add(looks.count)
      return .milliseconds(1)
    }
    try await eventually("the third look") { looks.count >= 3 }
    await watch.stop()
    let count = looks.count
    watch.start { nil }
    await watch.stop()
    #expect(looks.count == count)
  }
}
