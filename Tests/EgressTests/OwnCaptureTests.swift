import BridgeTesting
import MediaBridge
import MediaPipelines
import PipelineTemplates
import Testing

/// A capture template that somebody has written.
@Suite struct OwnCaptureTests {
  /// It may be declared for those alone who read the text.
  @Test func aRateThatIsDeclaredNeedsNoElement() async throws {
    let text = """
      #: ${framerate:-15/1}  Frames a second.
      videotestsrc num-buffers=1 ! video/x-raw,width=32,height=16 ! appsink name=frames
      """
    let folder = try TemporaryFolder(template: "capture/own", text)
    let capture = try CapturePipeline(
      "own", factory: PipelineFactory(folder: folder.path), isStarted: false,
      .init(media: { _, _, _ in }, end: {}, failure: { _ in }))
    #expect(capture.kinds == [.video])
    await capture.stop()
  }

  /// What `pipelines new` writes can be published.
  @Test func aDraftCapturesFrames() throws {
    let folder = try TemporaryFolder(template: "capture/own", TemplateDraft.text(of: .capture))
    #expect(try CapturePipeline.kinds(of: "own", factory: PipelineFactory(folder: folder.path)) == [.video])
  }
}
