import MediaPipelines
import Testing

@Suite struct RepairWaitTests {
  @Test func itFollowsWhatIsMeasuredBelowItsLimit() {
    var wait = RepairWait(limit: .milliseconds(500))
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
    var wait = RepairWait(limit: .milliseconds(50))
    #expect(wait.current == .milliseconds(50))
    #expect(wait.follow(.milliseconds(300)) == nil && wait.current == .milliseconds(50))
  }
}
