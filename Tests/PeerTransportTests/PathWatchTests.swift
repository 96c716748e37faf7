import MediaCore
import Testing

@testable import PeerTransport

@Suite struct PathWatchTests {
  private func time(_ seconds: Double) -> MediaTime { MediaTime(nanoseconds: Int64(seconds * 1e9)) }

  /// Looks every two seconds from `start` on; when the path was found dead.
  private func death(of watch: inout PathWatch, from start: Double, heard: (Double) -> Int = { _ in 0 }) -> Double? {
    for now in stride(from: start + 2, through: start + 100, by: 2) {
      for index in 0..<heard(now) { watch.heard(at: time(now - 2 + Double(index) * 0.001)) }
      if watch.look(at: time(now)) == .dead { return now - start }
    }
    return nil
  }

  @Test func aPathOnWhichMediaCameIsDeadAfterTenSeconds() {
    var watch = PathWatch(at: time(0))
    #expect(death(of: &watch, from: 0) { _ in 100 } == nil)
    #expect(death(of: &watch, from: 100) == 10)
  }

  @Test func aBusyPathThatDiesRightAfterALookIsDeadAsSoon() {
    var watch = PathWatch(at: time(0))
    #expect(death(of: &watch, from: 0) { _ in 100 } == nil)
    for _ in 0..<3 { watch.heard(at: time(100.03)) }
    #expect((10...12).contains(death(of: &watch, from: 100) ?? 0))
  }

  @Test func anIdlePathIsDeadAfterThirtySeconds() {
    var watch = PathWatch(at: time(0))
    #expect(death(of: &watch, from: 0) == 30)
    // Answers to heartbeats keep it alive, and do not make it a busy one.
    watch = PathWatch(at: time(0))
    #expect(death(of: &watch, from: 0) { $0.truncatingRemainder(dividingBy: 20) == 0 ? 1 : 0 } == nil)
    #expect((28...30).contains(death(of: &watch, from: 100) ?? 0))
  }

  /// A publisher that mutes leaves the path to heartbeats and reports.
  @Test func aBusyPathThatGoesIdleHasThirtySeconds() {
    var watch = PathWatch(at: time(0))
    #expect(death(of: &watch, from: 0) { $0 < 50 ? 100 : 1 } == nil)
    #expect((28...30).contains(death(of: &watch, from: 100) ?? 0))
  }

  @Test func aHeartbeatIsAskedForWhereNothingComes() {
    var watch = PathWatch(at: time(0))
    #expect(watch.look(at: time(2)) == .quiet)
    watch.heard(at: time(3))
    #expect(watch.look(at: time(4)) == .alive)
    #expect(watch.look(at: time(6)) == .quiet)
  }
}
