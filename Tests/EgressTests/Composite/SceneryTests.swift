import BridgeTesting
import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
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

  private func mix(
    templates: String? = nil, background: CompositeScenery.Background, frames: Locked<Int> = Locked(0),
    failure: Locked<LiveKitError?> = Locked(nil)
  ) throws -> RoomMix {
    var options = CompositeOptions(file: "a.mkv")
    (options.kinds, options.scenery.background) = ([.video], background)
    return try RoomMix(
      options, factory: PipelineFactory(folder: templates, overrides: [:]), captions: { _ in "" },
      onMedia: { _, _ in frames.withLock { $0 += 1 } }, onFailure: { error, _ in failure.withLock { $0 = error } })
  }

  @Test func aBackgroundThatFailsEndsNothing() async throws {
    try FileManager.default.createDirectory(atPath: folder.path + "/tile", withIntermediateDirectories: true)
    try "appsrc name=video max-buffers=30 leaky-type=downstream ! identity error-after=1\n"
      .write(toFile: folder.path + "/tile/video.pipeline", atomically: true, encoding: .utf8)
    let (frames, failure) = (Locked(0), Locked<LiveKitError?>(nil))
    let white = CompositeScenery.Background.color(0xffffff)
    let mix = try mix(templates: folder.path, background: white, frames: frames, failure: failure)
    try mix.start()
    try await eventually("its failure") { mix.mend(background: white, at: .now)?.message.contains("identity") == true }
    let before = frames.withLock { $0 }
    try await eventually("it goes on") { frames.withLock { $0 } > before + 10 }
    #expect(failure.withLock { $0 } == nil)
    await mix.stop()
  }

  @Test func aBackgroundIsTriedAgain() async throws {
    let mix = try mix(background: .color(0))
    try mix.start()
    let late = CompositeScenery.Background.image(file: "\(folder.path)/late.png")
    let now = MediaTime.now
    #expect(mix.mend(background: late, at: now) != nil)
    _ = try write("late.png", try image(.png, FrameColor(rgb: 0xffffff)))
    #expect(mix.mend(background: late, at: now + .seconds(1)) != nil, "not yet")
    #expect(mix.mend(background: late, at: now + .seconds(3)) == nil)
    await mix.stop()
  }

  @Test func nothingIsMissedWhereBlackIsWantedAfterAll() async throws {
    let mix = try mix(background: .color(0))
    try mix.start()
    let now = MediaTime.now
    #expect(mix.mend(background: .image(file: "\(folder.path)/gone.png"), at: now) != nil)
    #expect(mix.mend(background: .color(0), at: now) == nil)
    await mix.stop()
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
