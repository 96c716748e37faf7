import BridgeTesting
import GStreamerKit
import MediaCore
import Testing

@testable import MediaBridge

@Suite struct FrameColorsTests {
  private func frame(_ colorimetry: QuadrantFrame.Colorimetry) throws -> CapturedMedia {
    let drawn = try #require(QuadrantFrame(width: 64, height: 48).i420(colorimetry))
    return CapturedMedia(media: drawn.media, time: .now)
  }

  /// For the layers of both codecs.
  @Test func aFrameIsConvertedOnce() throws {
    let (colors, first, second) = (FrameColors(), try frame(.bt709), try frame(.bt709))
    let converted = colors.convert(first.media)
    #expect(converted.caps.string("colorimetry") == "bt601")
    #expect(colors.convert(first.media) === converted)
    let next = colors.convert(second.media)
    #expect(next !== converted && next !== second.media)
    #expect(colors.convert(second.media) === next)
  }

  @Test func whatHasTheseColorsIsHandedOn() throws {
    let (colors, other, frame) = (FrameColors(), try frame(.bt709), try frame(.bt601))
    _ = colors.convert(other.media)
    #expect(colors.convert(frame.media) === frame.media)
    #expect(colors.convert(frame.media) === frame.media)
  }
}
