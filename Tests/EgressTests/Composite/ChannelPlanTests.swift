import MediaPipelines
import Testing

@testable import Egress

/// Who is heard in which channel.
@Suite struct ChannelPlanTests {
  @Test func allAreInBothUnlessAskedOtherwise() {
    var plan = ChannelPlan(.defaultMixing)
    #expect(plan.channel(of: "a", isAgent: true) == .both && plan.channel(of: "b", isAgent: false) == .both)
  }

  @Test func agentsAreLeft() {
    var plan = ChannelPlan(.dualChannelAgent)
    #expect(plan.channel(of: "a", isAgent: false) == .right && plan.channel(of: "b", isAgent: false) == .right)
    #expect(plan.channel(of: "c", isAgent: true) == .left)
  }

  @Test func whoComesBackIsHeardWhereTheyWere() {
    var plan = ChannelPlan(.dualChannelAlternate)
    let channels = ["a", "b", "c", "a", "d", "b"].map { plan.channel(of: $0, isAgent: false) }
    #expect(channels == [.left, .right, .left, .left, .right, .right])
  }
}
