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

  @Test func audioIsNotHeldUpForLong() {
    var wait = RepairWait(.audio, limit: .milliseconds(500))
    #expect(wait.current == .milliseconds(100))
    #expect(wait.follow(.milliseconds(400)) == nil)
    #expect(wait.follow(.milliseconds(30)) == .milliseconds(60))
    #expect(RepairWait(.unrepaired, limit: .milliseconds(500)).current == .milliseconds(40))
    #expect(RepairWait(.unrepaired, limit: .milliseconds(10)).current == .milliseconds(10))
  }
}
