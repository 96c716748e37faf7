import BridgeTesting
import Foundation
import GStreamerKit
import MediaBridge
import MediaPipelines
import Testing

@testable import Egress

/// What is seen of a composite besides the tracks.
@Suite struct SceneryTests {
  private let folder: TemporaryFolder
  private let size = PixelSize(width: 1280, height: 720)

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [1, 2, 5, 9, 17]) func tilesOfAGridAreApart(_ count: Int) {
    let places = GridLayout.places(count: count, in: size, gap: 12)
    if count == 1 { #expect(places[0] == TilePlace(x: 0, y: 0, width: 1280, height: 720), "it has the whole frame") }
    for (index, one) in places.enumerated() where count > 1 {
      #expect(one.x >= 12 && one.y >= 12 && one.x + one.width <= 1268 && one.y + one.height <= 708)
      #expect([one.x, one.y, one.width, one.height].allSatisfy { $0.isMultiple(of: 2) && $0 >= 0 })
      for other in places[..<index] {
        let isApart =
          one.x >= other.x + other.width + 12 || other.x >= one.x + one.width + 12
          || one.y >= other.y + other.height + 12 || other.y >= one.y + one.height + 12
        #expect(isApart, "\(one) \(other)")
      }
    }
  }

  @Test func theStripIsApartFromTheSpeaker() {
    let places = SpeakerLayout.places(count: 3, in: size, gap: 8)
    #expect(places.map { [$0.x, $0.y] } == [[220, 8], [8, 8], [8, places[1].height + 16]])
    #expect(places[0].x + places[0].width == 1272 && places[0].height == 704 && places[1].width == 204)
  }

  @Test func aLogoIsInItsCornerAndNotTooLarge() {
    let logo = CompositeScenery.Logo(file: "a.png", corner: .bottomRight)
    #expect(
      logo.place(of: PixelSize(width: 100, height: 40), in: size) == TilePlace(x: 1162, y: 662, width: 100, height: 40))
    let large = CompositeScenery.Logo(file: "a.png", corner: .topLeft)
    #expect(
      large.place(of: PixelSize(width: 1000, height: 250), in: size) == TilePlace(x: 18, y: 18, width: 320, height: 80))
  }

  private func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    let path = "\(folder.path)/\(name)"
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func image(_ format: StillImageFormat, _ color: FrameColor) throws -> [UInt8] {
    let plain = try #require(MediaBuffer.plainFrame(color, width: 64, height: 36))
    return try #require(VideoFrameBuffer(plain)).encoded(as: format).withUnsafeBytes { Array($0) }
  }

  @Test(arguments: [("a.png", StillImageFormat.png), ("a.jpg", .jpeg(quality: 90))])
  func aPictureIsABackground(_ name: String, _ format: StillImageFormat) throws {
    let file = try write(name, try image(format, FrameColor(rgb: 0xffffff)))
    let frame = try #require(try CompositeScenery.Background.image(file: file).frame(size))
    #expect(frame.width == 64 && frame.height == 36)
    let luma = frame.withPlanes { $0[0]?.bytes[0] } ?? nil
    #expect(luma.map { $0 > 225 } == true)
  }

  @Test func mistakesAreToldBeforeARoomIsJoined() throws {
    let whole = try image(.png, .black)
    let wrong = [
      CompositeScenery(gap: 7), CompositeScenery(gap: -2), CompositeScenery(gap: 400),
      CompositeScenery(background: .image(file: "\(folder.path)/gone.png")),
      CompositeScenery(background: .image(file: try write("text.png", Array("hello".utf8)))),
      CompositeScenery(background: .image(file: try write("cut.png", Array(whole.prefix(40))))),
      CompositeScenery(logo: .init(file: folder.path)),
      CompositeScenery(logo: .init(file: try write("a.png", whole), opacity: 2)),
    ]
    for scenery in wrong {
      var options = CompositeOptions(file: "\(folder.path)/a.mkv")
      options.scenery = scenery
      let error = #expect(throws: LiveKitError.self, "\(scenery)") { try options.check() }
      #expect(error?.code == .invalidParameter)
    }
  }
}
