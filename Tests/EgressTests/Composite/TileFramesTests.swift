import BridgeTesting
import GStreamerKit
import MediaCore
import MediaPipelines
import Testing

@testable import Egress

/// When frames of a track are seen in their tile, and in which colours they go there.
@Suite struct TileFramesTests {
  private let now = MediaTime(nanoseconds: 0) + .seconds(100)

  @Test func whatIsOfAMomentToComeIsSeenSoon() {
    var moments = SeenMoments()
    for milliseconds in [-3000, -20, 0, 300, 500] {
      let time = now + .milliseconds(milliseconds)
      #expect(moments.moment(of: time, at: now) == time)
    }
    #expect(moments.ahead == 0)
    #expect(moments.moment(of: now + .seconds(1.6), at: now) == now + .milliseconds(500))
    // One that follows is behind it.
    let next = now + .milliseconds(33)
    #expect(moments.moment(of: now + .seconds(1.633), at: next) == next + .milliseconds(500))
    #expect(moments.ahead == 2)
  }

  /// The elements of a tile take ten times as long.
  @Test func framesHaveTheColoursOfTheMixWhereTheyAreNotMuchLarger() throws {
    let frame = try #require(QuadrantFrame(width: 64, height: 48).i420(.bt709))
    let colors = TileColors()
    let converted = colors.convert(frame, for: PixelSize(width: 32, height: 24))
    #expect(converted.media.caps.string("colorimetry") == "bt601" && converted.width == 64)
    for place in [PixelSize(width: 32, height: 22), nil] {
      #expect(colors.convert(frame, for: place).media === frame.media)
    }
    let same = try #require(QuadrantFrame(width: 64, height: 48).i420(.bt601))
    #expect(colors.convert(same, for: PixelSize(width: 64, height: 48)).media === same.media)
  }
}
