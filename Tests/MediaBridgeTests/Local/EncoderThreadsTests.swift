import Testing

@testable import MediaBridge

@Suite("Threads that encode a layer")
struct EncoderThreadsTests {
  @Test(
    arguments: [
      (320, 180, 8, 1), (1280, 720, 8, 1), (720, 1280, 8, 1), (1920, 1080, 8, 2), (3840, 2160, 8, 4),
      (3840, 2160, 4, 3), (3840, 2160, 2, 1), (3840, 2160, 1, 1), (.max, .max, 8, 4),
    ] as [(Int32, Int32, Int, Int)])
  func largeFramesHaveSeveral(width: Int32, height: Int32, cores: Int, threads: Int) {
    #expect(EncoderThreads.count(for: Dimensions(width: width, height: height), cores: cores) == threads)
  }

  /// Each layer by its own size, and by that of the frames that come.
  @Test func anEncoderIsToldOfThem() throws {
    let size = Dimensions(width: 3840, height: 2160)
    let plan = PublishPlan(VideoPublishOptions(), name: "x", size: size, isScreen: false)
    let threads = plan.layers.map { OutgoingLayer.values(of: $0, in: plan, for: size, cores: 8)["threads"] }
    #expect(threads == ["1", "1", "4"])
    let small = Dimensions(width: 640, height: 360)
    let largest = try #require(plan.layers.last)
    #expect(OutgoingLayer.values(of: largest, in: plan, for: small, cores: 8)["threads"] == "1")
  }
}
