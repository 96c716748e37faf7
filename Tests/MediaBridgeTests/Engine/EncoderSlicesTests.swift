import MediaBridge
import PipelineTemplates
import Testing

@testable import MediaPipelines

@Suite("Slices of encoded frames")
struct EncoderSlicesTests {
  @Test(arguments: [
    ([:], "1"),
    (["width": "1280", "height": "720"], "1"),
    (["width": "720", "height": "1280"], "1"),
    (["width": "1280", "height": "722"], "0"),
    (["width": "1920", "height": "1080"], "0"),
    (["width": "640", "height": "360", "slices": "3"], "3"),
  ]) func oneIsEnoughForWhatOneThreadEncodes(values: [String: String], slices: String) throws {
    let filled = try PipelineFactory(folder: nil).fill(.encode, "h264", values: values)
    #expect(filled.description.contains(" threads=\(slices) "), "\(filled.description)")
  }

  @Test(arguments: ["0", "-1", "9223372036854775807", "abc", ""]) func whatIsNoSizeIsLeftToTheTemplate(side: String)
    throws
  {
    let template = try PipelineFactory(folder: nil).template(.encode, "h264")
    let values = ["width": "9223372036854775807", "height": side]
    #expect(EncoderSlices.values(of: template, values) == values)
    #expect(EncoderSlices.values(of: template, ["width": side])["width"] == side)
  }
}
