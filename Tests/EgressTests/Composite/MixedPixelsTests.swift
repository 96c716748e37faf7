import BridgeTesting
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// What is seen where in mixed frames, by the figures that are computed from the style sheets of LiveKit Egress. They are
/// written here as they stand there, with fractions of a pixel; ours are even.
@Suite struct MixedPixelsTests {
  struct Rectangle: Sendable, CustomStringConvertible {
    var (x, y, width, height): (Double, Double, Double, Double)
    init(_ x: Double, _ y: Double, _ width: Double, _ height: Double) {
      (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
    var description: String { "\(width)x\(height) at \(x),\(y)" }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var layout: CompositeLayout
    var size: PixelSize
    var cameras: Int
    var hasScreen = false
    /// In the order of the tiles; a screen comes first.
    var places: [Rectangle]
    /// Where nobody is seen.
    var dark: [(Int, Int)] = []
    var testDescription: String { name }
  }

  private static func rows(
    _ xs: [Double], _ width: Double, _ ys: [Double], _ height: Double, count: Int
  ) -> [Rectangle] {
    Array(ys.flatMap { y in xs.map { Rectangle($0, y, width, height) } }.prefix(count))
  }

  private static let hd = PixelSize(width: 1280, height: 720)
  private static let portrait = PixelSize(width: 720, height: 1280)
  private static let thirds = [0, 426.67, 853.33]

  static let cases: [Case] = [
    Case(name: "grid of 1", layout: .grid, size: hd, cameras: 1, places: [Rectangle(0, 0, 1280, 720)]),
    Case(
      name: "grid of 2", layout: .grid, size: hd, cameras: 2,
      places: [Rectangle(0, 0, 640, 720), Rectangle(640, 0, 640, 720)]),
    Case(
      name: "grid of 3", layout: .grid, size: hd, cameras: 3, places: rows([0, 640], 640, [0, 360], 360, count: 3),
      dark: [(660, 380), (1260, 700)]),
    Case(
      name: "grid of 5", layout: .grid, size: hd, cameras: 5, places: rows(thirds, 426.67, [0, 360], 360, count: 5),
      dark: [(870, 380), (1260, 700)]),
    Case(
      name: "grid of 9", layout: .grid, size: hd, cameras: 9,
      places: rows(thirds, 426.67, [0, 240, 480], 240, count: 9)),
    Case(
      name: "grid of 17", layout: .grid, size: hd, cameras: 17,
      places: rows([0, 256, 512, 768, 1024], 256, [0, 180, 360, 540], 180, count: 17), dark: [(530, 560), (1260, 700)]),
    Case(
      name: "portrait grid of 2", layout: .grid, size: portrait, cameras: 2,
      places: [Rectangle(0, 0, 720, 640), Rectangle(0, 640, 720, 640)]),
    Case(
      name: "portrait grid of 9", layout: .grid, size: portrait, cameras: 9,
      places: rows([0, 240, 480], 240, [0, 426.67, 853.33], 426.67, count: 9)),
    Case(
      name: "speaker", layout: .speaker, size: hd, cameras: 4,
      places: [Rectangle(213.33, 0, 1066.67, 720)] + rows([0], 213.33, [0, 133.33, 266.67], 133.33, count: 3),
      dark: [(100, 420), (100, 700)]),
    Case(
      name: "portrait speaker", layout: .speaker, size: portrait, cameras: 3,
      places: [Rectangle(120, 0, 600, 1280)] + rows([0], 120, [0, 75], 75, count: 2), dark: [(60, 170)]),
    Case(
      name: "single speaker", layout: .singleSpeaker, size: hd, cameras: 3, places: [Rectangle(0, 0, 1280, 720)]),
    // A screen of 16:9 in its place: 1066.67x600, in the middle.
    Case(
      name: "grid with a screen share", layout: .grid, size: hd, cameras: 2, hasScreen: true,
      places: [Rectangle(213.33, 60, 1066.67, 600)] + rows([0], 213.33, [0, 133.33], 133.33, count: 2),
      dark: [(700, 50), (700, 670), (100, 300)]),
    Case(
      name: "screen share", layout: .screenShare, size: hd, cameras: 3, hasScreen: true,
      places: [Rectangle(0, 0, 1280, 720)]),
  ]

  @Test(arguments: cases) func eachIsSeenInItsPlace(_ shown: Case) async throws {
    let factory = PipelineFactory(folder: nil, overrides: [:])
    let newest = Locked<MediaBuffer?>(nil)
    let failures = Collector<String>()
    let values = [
      "width": "\(shown.size.width)", "height": "\(shown.size.height)", "framerate": "10/1", "delay": "100000000",
    ]
    let pipeline = try MixPipeline(
      try factory.fill(.mix, "video", values: values), factory: factory,
      onBuffer: { media in newest.withLock { $0 = media } }, onFailure: { failures.add($0.message) })
    try pipeline.start()
    try await eventually("the first frame") { newest.withLock { $0 } != nil }
    var arranger = CompositeArranger(shown.layout, size: shown.size)
    let places = arranger.places(of: tracks(shown), at: .now)
    #expect(places.count == shown.places.count)
    let tiles = try places.enumerated().map { level, seen in
      let tile = try pipeline.addTile(try factory.fill(.tile, "video", values: [:]))
      tile.put(at: seen.place, level: level + 1)
      tile.start()
      tile.frames.show(try frame(luma(try #require(Int(seen.sid)))))
      return tile
    }
    do {
      try await eventually("all in their places") { newest.withLock { $0 }.map { wrong(shown, $0).isEmpty } ?? false }
    } catch { Issue.record("\(newest.withLock { $0 }.map { wrong(shown, $0) } ?? ["nothing is mixed"])") }
    for tile in tiles { tile.remove() }
    await pipeline.stop()
    #expect(failures.values.isEmpty)
  }

  /// In the order in which they joined; a screen is the first.
  private func tracks(_ shown: Case) -> [TileTrack] {
    let screen = shown.hasScreen ? [TileTrack(sid: "0", source: .screenShareVideo)] : []
    return screen
      + (0..<shown.cameras).map { index in
        TileTrack(
          sid: "\(index + screen.count)", source: .camera, speaker: .init(identity: "\(index)", joinedAt: Int64(index)))
      }
  }

  private func luma(_ index: Int) -> UInt8 { UInt8(50 + index * 10) }

  private func frame(_ luma: UInt8) throws -> VideoFrameBuffer {
    let caps = try #require(Caps("video/x-raw,format=I420,width=160,height=90,framerate=0/1"))
    var bytes = try #require(MediaBuffer.blackFrame(width: 160, height: 90)).withUnsafeBytes { Array($0) }
    for index in 0..<160 * 90 { bytes[index] = luma }
    let media = bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: .now) }
    return try #require(VideoFrameBuffer(media))
  }

  /// What is not as it is to be.
  private func wrong(_ shown: Case, _ media: MediaBuffer) -> [String] {
    guard let frame = VideoFrameBuffer(media) else { return ["no frame"] }
    return frame.withPlanes { planes -> [String] in
      guard let plane = planes[0] else { return ["no plane"] }
      func check(_ x: Int, _ y: Int, _ wanted: UInt8, _ what: String) -> String? {
        let seen = plane.bytes[y * plane.stride + x]
        return abs(Int(seen) - Int(wanted)) < 4 ? nil : "\(what): \(seen) and not \(wanted) at \(x),\(y)"
      }
      let inside = shown.places.enumerated().flatMap { index, place in
        corners(place).map { check($0, $1, luma(index), "\(place)") }
      }
      return (inside + shown.dark.map { check($0, $1, 16, "dark") }).compactMap { $0 }
    } ?? ["no planes"]
  }

  /// Just within them: what is one pixel too small or elsewhere has another one's there.
  private func corners(_ place: Rectangle) -> [(Int, Int)] {
    let inset = 3.0
    let xs = [place.x + inset, place.x + place.width / 2, place.x + place.width - inset]
    let ys = [place.y + inset, place.y + place.height / 2, place.y + place.height - inset]
    return ys.flatMap { y in xs.map { (Int($0), Int(y)) } }
  }
}
