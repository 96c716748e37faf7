import CGStreamer
import MediaCore
import Testing

@testable import GStreamerKit

@Suite struct TeeBranchTests {
  /// A branch that comes or goes while its pipeline stops would be left in a state in which nothing can be let go of.
  @Test(arguments: [false, true]) func comesAndGoesWhileThePipelineStops(isRemoved: Bool) async throws {
    for _ in 0..<100 {
      let pipeline = try Pipeline(
        description: "audiotestsrc is-live=true ! tee name=media allow-not-linked=true", name: "test")
      try pipeline.start()
      let branch = try pipeline.makeBranch(description: "identity ! fakesink name=end async=false", behindTee: "media")
      let end = try #require(branch.element(named: "end"))
      if isRemoved { branch.start { [] } }
      async let isStopped = pipeline.stop()
      if isRemoved { branch.remove() } else { branch.start { [] } }
      #expect(await isStopped)
      // GST_STATE_NULL; which module the name is seen in depends on how the compiler groups the files.
      #expect(end.shared.pointer.pointee.current_state.rawValue == 1)
    }
  }
}
