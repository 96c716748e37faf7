import MediaPipelines
import Testing

@Suite struct RepairWaitTests {
  @Test func itFollowsWhatIsMeasuredBelowItsLimit() {
    var wait = RepairWait(.video, limit: .milliseconds(500))
    #expect(wait.current == .milliseconds(350))
    #expect(wait.follow(nil) == nil)
    #expect(wait.follow(.milliseconds(420)) == .milliseconds(420))
    #expect(wait.follow(.milliseconds(800)) == .milliseconds(500))
    // A little less is not worth a change.
    #expect(wait.follow(.milliseconds(420)) == nil)
    #expect(wait.follow(.milliseconds(400)) == .milliseconds(400))
    #expect(wait.follow(.milliseconds(3)) == .milliseconds(150))
    #expect(wait.follow(.milliseconds(3)) == nil)
  }

  @Test func aLimitThatSomebodyHasSetHolds() {
    var wait = RepairWait(.video, limit: .milliseconds(50))
    #expect(wait.current == .milliseconds(50))
    #expect(wait.follow(.milliseconds(300)) == nil && wait.current == .milliseconds(50))
  }

  @Test func audioThatIsHeardLiveIsNotHeldUpForLong() {
    var wait = RepairWait(.audio, limit: .milliseconds(500))
    wait.isLive = true
    #expect(wait.follow(nil) == .milliseconds(100))
    #expect(wait.follow(.milliseconds(400)) == nil)
    #expect(wait.follow(.milliseconds(30)) == .milliseconds(60))
    #expect(RepairWait(.unrepaired, limit: .milliseconds(500)).current == .milliseconds(40))
    #expect(RepairWait(.unrepaired, limit: .milliseconds(10)).current == .milliseconds(10))
  }

  /// A recording has time, until somebody hears the same track.
  @Test func audioOfARecordingIsWaitedForLikeVideo() {
    var wait = RepairWait(.audio, limit: .milliseconds(500))
    #expect(wait.current == .milliseconds(350))
    #expect(wait.follow(.milliseconds(110)) == .milliseconds(110))
    #expect(wait.follow(.milliseconds(300)) == .milliseconds(300))
    wait.isLive = true
    #expect(wait.follow(.milliseconds(110)) == .milliseconds(100), "though it is little less")
    wait.isLive = false
    #expect(wait.follow(.milliseconds(300)) == .milliseconds(300))
  }
}
