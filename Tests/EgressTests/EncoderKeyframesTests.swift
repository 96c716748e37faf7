import MediaBridge
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// How often the shipped encode templates make keyframes: by time, at whatever rate frames come.
@Suite struct EncoderKeyframesTests {
  private func keyframes(
    _ name: String, framerate: Int?, besides set: [String: String] = [:]
  ) throws -> EncoderKeyframes? {
    let template = try PipelineFactory(folder: nil).template(.encode, name)
    return EncoderKeyframes(template, framerate: framerate, besides: set)
  }

  @Test(arguments: [nil, 15, 30, 60] as [Int?]) func theyAreAskedForByTime(framerate: Int?) throws {
    for name in ["h264", "h264-low-latency", "h264-openh264", "vp8", "vp9"] {
      let made = try keyframes(name, framerate: framerate)
      #expect(made?.interval == .seconds(2))
      // For where nobody asks; more than come in that time at any rate.
      #expect(made?.values == ["gop": "500"])
    }
    #expect(try keyframes("h264-archive", framerate: framerate)?.interval == .seconds(10))
    #expect(try keyframes("h264", framerate: framerate, besides: ["gop": "30"])?.values == nil)
  }

  /// It cannot be asked for one, and counts frames: as many as come in 2 s.
  @Test(arguments: [(15, "30"), (25, "50"), (30, "60"), (60, "120")])
  func whatCountsByItselfCountsFramesOfTheRate(framerate: Int, gop: String) throws {
    let made = try keyframes("av1", framerate: framerate)
    #expect(made?.values == ["gop": gop] && made?.interval == nil)
    #expect(try keyframes("av1", framerate: nil)?.values == nil)
    #expect(try keyframes("av1", framerate: framerate, besides: ["gop": "30"])?.values == nil)
  }
}
