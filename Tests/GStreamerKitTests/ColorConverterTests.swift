import BridgeTesting
import MediaCore
import Testing

@testable import GStreamerKit

/// Frames of a camera or a file in the colours of WebRTC, sample by sample.
@Suite struct ColorConverterTests {
  /// The samples of each plane without the padding of its rows.
  private func samples(_ media: MediaBuffer) throws -> [[UInt8]] {
    let frame = try #require(VideoFrameBuffer(media))
    return try #require(
      frame.withPlanes { planes in
        (0..<3).compactMap { planes[$0] }.map { plane in
          (0..<plane.height).flatMap { plane.bytes[($0 * plane.stride)..<($0 * plane.stride + plane.width)] }
        }
      })
  }

  @Test(arguments: [(64, 48), (63, 45), (641, 361), (2, 2), (1, 1)], [QuadrantFrame.Colorimetry.bt709, .fullRange])
  func samplesMeanTheSame(size: (Int, Int), colorimetry: QuadrantFrame.Colorimetry) throws {
    let drawn = QuadrantFrame(width: size.0, height: size.1)
    let frame = try #require(drawn.i420(colorimetry, quarterTurns: 1)).media
    let converted = ColorConverter().convert(frame)
    #expect(converted.caps.string("colorimetry") == "bt601")
    #expect(converted.caps.int("width") == size.0 && converted.caps.int("height") == size.1)
    #expect(converted.pts == frame.pts && converted.duration == frame.duration && converted.quarterTurns == 1)
    let expected = try samples(try #require(drawn.i420(.bt601)).media)
    for (found, plane) in zip(try samples(converted), expected) {
      #expect(zip(found, plane).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
    }
  }

  @Test func whatHasTheseColorsOrTellsNoneStaysTheSameMemory() throws {
    let converter = ColorConverter()
    for colorimetry in ["bt601", "0:0:0:0", "sRGB"] {
      let format = colorimetry == "sRGB" ? "RGBA" : "I420"
      let caps = try #require(
        Caps("video/x-raw,format=\(format),width=64,height=48,framerate=0/1,colorimetry=(string)\(colorimetry)"))
      let bytes = [UInt8](repeating: 99, count: 64 * 48 * 4)
      let frame = bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
      #expect(converter.convert(frame) === frame, "\(colorimetry)")
    }
    let hd = try #require(QuadrantFrame(width: 64, height: 48).i420(.bt709)).media
    #expect(converter.convert(hd) !== hd)
    let short = [1, 2, 3].withUnsafeBytes { MediaBuffer(copying: $0, caps: hd.caps, pts: nil) }
    #expect(converter.convert(short) === short)
  }

  /// Luma, U and V: where no colour is, and where one would be beyond what a sample can be.
  @Test(arguments: [[126, 128, 128], [0, 0, 0], [255, 255, 255], [0, 255, 0], [255, 0, 255]] as [[UInt8]])
  func noSampleTurnsOver(color: [UInt8]) throws {
    let caps = try #require(
      Caps("video/x-raw,format=I420,width=64,height=2,framerate=0/1,colorimetry=(string)bt709"))
    let bytes = zip(color, [128, 32, 32]).flatMap { [UInt8](repeating: $0, count: $1) }
    let frame = bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
    let planes = try samples(ColorConverter().convert(frame))
    let (luma, u, v) = (Double(color[0]), Double(color[1]) - 128, Double(color[2]) - 128)
    // The matrix between both, to four places.
    let exact = [luma + 0.1016 * u + 0.1961 * v, 128 + 0.9899 * u - 0.1107 * v, 128 - 0.0725 * u + 0.9834 * v]
    for (plane, expected) in zip(planes, exact) {
      #expect(plane.allSatisfy { abs(Double($0) - min(max(expected, 0), 255)) <= 1.5 })
    }
  }

  @Test func aChangeThatIsTooLargeIsNone() {
    #expect(LumaChroma.bt601.change(to: .bt601) == nil)
    #expect(LumaChroma(red: 0.9, blue: 0.05).change(to: .bt601) == nil)
  }
}
