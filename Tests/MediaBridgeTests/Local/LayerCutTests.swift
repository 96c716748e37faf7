import MediaCore
import Testing

@testable import MediaBridge

@Suite("Layers of a source that changes its size")
struct LayerCutTests {
  private static let start = MediaTime(nanoseconds: 1_000_000_000)

  private func plan(
    _ size: Dimensions, _ options: VideoPublishOptions = VideoPublishOptions(), isScreen: Bool = false
  ) -> PublishPlan {
    PublishPlan(options, name: "x", size: size, isScreen: isScreen)
  }

  private func size(_ width: Int32, _ height: Int32) -> Dimensions { Dimensions(width: width, height: height) }

  /// - Parameter frames: of so many milliseconds, and of what size.
  /// - Returns: from which of them on there are other layers.
  private func changes(_ cut: inout LayerCut, _ frames: [(time: Int, size: Dimensions)]) -> [Int] {
    var changes: [Int] = []
    for frame in frames {
      let areOthers = cut.note(frame.size, at: Self.start + .milliseconds(frame.time))
      if areOthers { changes.append(frame.time) }
    }
    return changes
  }

  @Test func anotherSizeIsFollowedOnceItStays() {
    var cut = LayerCut(plan(size(640, 360)))
    let before = changes(&cut, [(0, size(640, 360)), (100, size(1280, 720)), (1000, size(1280, 720))])
    #expect(before.isEmpty && cut.size == size(640, 360))
    #expect(cut.layers.map(\.size) == [size(320, 180), size(640, 360)])
    let after = changes(&cut, [(1100, size(1280, 720)), (1200, size(1280, 720))])
    #expect(after == [1100] && cut.size == size(1280, 720))
    #expect(cut.layers.map(\.size) == [size(640, 360), size(1280, 720)])
    #expect(cut.layers.map(\.rid) == ["q", "h"] && cut.layers.map(\.bitrate) == [450_000, 1_700_000])
  }

  @Test func aWindowThatIsDraggedIsFollowedOnce() {
    var cut = LayerCut(plan(size(640, 360), isScreen: true))
    // For 3 s.
    let frames = (0..<60).map { (time: $0 * 100, size: size(640 + 10 * Int32(min($0, 30)), 360)) }
    let followed = changes(&cut, frames)
    #expect(followed == [4000] && cut.layers.map(\.size) == [size(470, 180), size(940, 360)])
  }

  /// Along the side by which layers do not go, too.
  @Test func aWindowThatIsDraggedInHeightIsFollowedOnce() {
    var cut = LayerCut(plan(size(1280, 720), isScreen: true))
    let frames = (0..<60).map { (time: $0 * 100, size: size(1280, 720 - 10 * Int32(min($0, 30)))) }
    let followed = changes(&cut, frames)
    #expect(followed == [4000] && cut.layers.map(\.size) == [size(640, 210), size(1280, 420)])
  }

  @Test func whatComesBackWasNeverAway() {
    var cut = LayerCut(plan(size(640, 360)))
    let frames = [(0, 1280), (900, 640), (1000, 1280), (1900, 1280)]
    let followed = changes(&cut, frames.map { (time: $0, size: size(Int32($1), Int32($1) * 9 / 16)) })
    #expect(followed.isEmpty)
  }

  /// Without bars.
  @Test func whatIsTurnedIsFollowedAtOnce() {
    var cut = LayerCut(plan(size(1280, 720)))
    let followed = changes(&cut, [(0, size(720, 1280))])
    #expect(followed == [0] && cut.size == size(720, 1280) && cut.layers.last?.size == size(720, 1280))
  }

  @Test func nothingIsLargerThanItsSource() {
    var cut = LayerCut(plan(size(1280, 720)))
    let first = changes(&cut, [(0, size(300, 170)), (1000, size(300, 170))])
    #expect(first == [1000] && cut.layers.map(\.size) == [size(160, 90), size(160, 90), size(300, 170)])
    #expect(cut.layers.compactMap(\.bitrate).allSatisfy { $0 < 160_000 })
    let second = changes(&cut, [(2000, size(40, 20)), (3000, size(40, 20))])
    #expect(second == [3000] && cut.layers.map(\.size) == Array(repeating: size(40, 20), count: 3))
  }

  /// It has to do for all who receive it.
  @Test func oneThatIsAloneSinceItWasSmallGrowsUpToFullHD() {
    let small = plan(size(320, 180))
    #expect(small.layers(for: size(1280, 720)).map(\.size) == [size(1280, 720)])
    #expect(small.layers(for: size(3840, 2160)).map(\.size) == [size(1920, 1080)])
    #expect(small.layers(for: size(3840, 2160)).map(\.bitrate) == [3_000_000])
    let alone = plan(size(320, 180), VideoPublishOptions(simulcast: false))
    #expect(alone.layers(for: size(3840, 2160)).map(\.size) == [size(3840, 2160)])
  }

  @Test(arguments: [(320, 180), (640, 480), (1280, 720), (720, 1280), (3840, 2160)] as [(Int32, Int32)])
  func thoseOfTheFirstSizeAreTheFirstOnes(width: Int32, height: Int32) {
    for options in [VideoPublishOptions(), VideoPublishOptions(preferredCodec: .vp9, preferredBackupCodec: .vp8)] {
      let first = plan(size(width, height), options)
      for plan in [first, first.backupPlan].compactMap(\.self) {
        #expect(plan.layers(for: size(width, height)) == plan.layers)
      }
    }
  }

  /// What its source carries is sent as it is, whatever its size.
  @Test func whatIsSentAsItIsIsNotCut() {
    let stream = CarriedStream(codec: .h264, size: size(640, 360))
    let plan = PublishPlan(VideoPublishOptions(), name: "x", stream: stream, accepted: [.h264])
    #expect(plan.isAsItIs && plan.frameSize == nil)
    #expect(plan.layers(for: size(1280, 720)) == plan.layers)
  }

  @Test func aBitrateThatWasAskedForStays() {
    let options = VideoPublishOptions(encoding: VideoEncoding(maxBitrate: 600_000, maxFps: 10))
    let layers = plan(size(640, 360), options).layers(for: size(1280, 720))
    #expect(layers.map(\.bitrate) == [450_000, 600_000] && layers.last?.rate == 10)
  }
}
