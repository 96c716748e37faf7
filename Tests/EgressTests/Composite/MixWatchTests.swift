import MediaBridge
import MediaCore
import Testing

@testable import Egress

/// What of a mix stands still, and what of it does not stop.
@Suite struct MixWatchTests {
  private let start = MediaTime(nanoseconds: 0)

  /// - Parameter newest: by the second of the look.
  /// - Returns: in which seconds something stands still.
  private func still(
    _ kinds: Set<Track.Kind>, seconds: Int, _ newest: (Int) -> [Track.Kind: MediaTime]
  ) -> [Int: Set<Track.Kind>] {
    var watch = StandstillWatch()
    var found: [Int: Set<Track.Kind>] = [:]
    for look in 0...(seconds * 5) {
      let (second, now) = (look / 5, start + .milliseconds(look * 200))
      let still = watch.look(at: kinds, newest(second), now: now)
      if !still.isEmpty { found[second] = still }
    }
    return found
  }

  @Test func whatMixesNothingForLongIsTold() {
    let hung = still([.video, .audio], seconds: 20) { second in
      [.video: start + .seconds(min(second, 5)), .audio: start + .seconds(second)]
    }
    #expect(hung.keys.min() == 15 && hung.values.allSatisfy { $0 == [.video] } && hung.keys.max() == 20)
    #expect(still([.audio], seconds: 11) { _ in [:] }.keys.min() == 10, "nothing ever came")
  }

  @Test func whatIsSlowOrComesBackIsNot() {
    #expect(still([.video], seconds: 40) { [.video: start + .seconds($0 / 8)] }.isEmpty)
    let back = still([.video], seconds: 30) { [.video: start + .seconds($0 < 15 ? 0 : $0)] }
    #expect(back.keys.min() == 10 && back.keys.max() == 14)
  }

  /// Nobody looks while the process is stopped.
  @Test func aLookThatComesLateIsNoStandstill() {
    var watch = StandstillWatch()
    #expect(watch.look(at: [.video], [.video: start], now: start).isEmpty)
    #expect(watch.look(at: [.video], [.video: start], now: start + .seconds(60)).isEmpty)
  }

  @Test func whatHangsIsToldOnce() {
    let hasStopped = Locked(false)
    var stopping = StoppingInputs()
    stopping.add(.audio, since: start) { true }
    stopping.add(.video, since: start) { false }
    stopping.add(.video, since: start + .seconds(1)) { hasStopped.withLock { $0 } }
    #expect(stopping.takeHanging(at: start + .seconds(4.9)).isEmpty && !stopping.isEmpty)
    #expect(stopping.takeHanging(at: start + .seconds(5)) == [.video] && !stopping.isEmpty)
    hasStopped.withLock { $0 = true }
    #expect(stopping.takeHanging(at: start + .seconds(9)).isEmpty && stopping.isEmpty)
  }
}
