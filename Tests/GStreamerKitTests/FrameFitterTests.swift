import BridgeTesting
import CGStreamer
import MediaCore
import Testing

@testable import GStreamerKit

/// Frames brought upright into one size, as bytes without padding.
@Suite struct FrameFitterTests {
  @Test func placesAreInTheMiddleAndKeepTheShape() {
    let wide = FittedPlace(of: (640, 360), in: (320, 240))
    #expect((wide.x, wide.y, wide.width, wide.height) == (0, 30, 320, 180))
    let tall = FittedPlace(of: (360, 640), in: (640, 360))
    #expect((tall.y, tall.height) == (0, 360) && abs(tall.width - 202) <= 1 && tall.x % 2 == 0)
    let same = FittedPlace(of: (641, 361), in: (641, 361))
    #expect((same.x, same.y, same.width, same.height) == (0, 0, 641, 361))
  }

  @Test func packedPlanesHaveNoPadding() throws {
    let frame = try #require(QuadrantFrame(width: 63, height: 45).i420(.bt601))
    let bytes = try #require(frame.packed())
    #expect(bytes.count == 63 * 45 + 2 * 32 * 23)
    let rows = try #require(
      frame.withPlanes { planes in
        planes[0].map { plane in (0..<45).flatMap { plane.bytes[($0 * plane.stride)..<($0 * plane.stride + 63)] } }
      } ?? nil)
    #expect(Array(bytes[..<(63 * 45)]) == rows)
  }

  @Test func alignedRowsHaveThePaddingOfGStreamer() throws {
    let frame = try #require(QuadrantFrame(width: 63, height: 45).i420(.bt601))
    let (packed, aligned) = (try #require(frame.packed()), try #require(frame.packed(isAligned: true)))
    #expect(aligned.count == 64 * 46 + 2 * 32 * 23)
    for row in [0, 44] { #expect(Array(aligned[(row * 64)...].prefix(63)) == Array(packed[(row * 63)...].prefix(63))) }
    #expect(Array(aligned[(64 * 46)...]) == Array(packed[(63 * 45)...]))
  }

  @Test(arguments: 0..<4) func turnsAreApplied(quarters: Int) throws {
    // One byte a pixel: 0 1 2 / 3 4 5.
    let caps = try #require(Caps("video/x-raw,format=GRAY8,width=3,height=2,framerate=0/1"))
    let media = [UInt8]([0, 1, 2, 0, 3, 4, 5, 0]).withUnsafeBytes {
      MediaBuffer(copying: $0, caps: caps, pts: nil, quarterTurns: quarters)
    }
    let upright: [[UInt8]] = [[0, 1, 2, 3, 4, 5], [3, 0, 4, 1, 5, 2], [5, 4, 3, 2, 1, 0], [2, 5, 1, 4, 0, 3]]
    #expect(VideoFrameBuffer(media)?.packed() == upright[quarters])
    let padded: [[UInt8]] = [
      [0, 1, 2, 0, 3, 4, 5, 0], [3, 0, 0, 0, 4, 1, 0, 0, 5, 2, 0, 0], [5, 4, 3, 0, 2, 1, 0, 0],
      [2, 5, 0, 0, 1, 4, 0, 0, 0, 3, 0, 0],
    ]
    #expect(VideoFrameBuffer(media)?.packed(isAligned: true) == padded[quarters])
  }

  @Test func aFrameOfAnotherShapeHasBlackBorders() throws {
    let fitter = FrameFitter(to: .rgb, width: 64, height: 64)
    let frame = try fitter.fit(
      try #require(MediaBuffer.plainFrame(FrameColor(rgb: 0xffffff), width: 64, height: 32)).frame)
    let bytes = try #require(frame.packed())
    #expect(bytes.count == 64 * 64 * 3)
    #expect(bytes[..<(64 * 3 * 15)].allSatisfy { $0 < 4 } && bytes[(64 * 3 * 49)...].allSatisfy { $0 < 4 })
    #expect(bytes[(64 * 3 * 20)..<(64 * 3 * 44)].allSatisfy { $0 > 250 })
  }

  @Test func aSizeThatChangesIsFollowed() throws {
    let fitter = FrameFitter(to: .i420, width: 64, height: 48)
    for (width, height) in [(64, 48), (128, 96), (32, 24), (128, 96)] {
      let frame = try fitter.fit(try #require(QuadrantFrame(width: width, height: height).i420(.bt709)))
      #expect((frame.width, frame.height) == (64, 48))
    }
  }
}

extension MediaBuffer {
  fileprivate var frame: VideoFrameBuffer {
    get throws { try #require(VideoFrameBuffer(self)) }
  }
}
