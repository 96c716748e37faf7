import MediaBridge
import PipelineTemplates
import Testing

@testable import Egress

/// What is told where several destinations cannot go on with what is sent.
@Suite struct RefusalsTests {
  @Test func eachIsNamed() throws {
    let error = LiveKitError(.unsupportedCodec, "it holds VP9, which cannot be made of this")
    let (one, other) = (Destination(location: "a.mkv"), Destination(location: "b.mkv"))
    let all = [(destination: one, error: error), (destination: other, error: error)]
    let refusal = try #require(JobRun.refusal(of: all))
    #expect(refusal.code == .unsupportedCodec)
    #expect(refusal.message == "a.mkv: \(error.message); b.mkv: \(error.message)")
    #expect(JobRun.refusal(of: []) == nil)
  }
}
