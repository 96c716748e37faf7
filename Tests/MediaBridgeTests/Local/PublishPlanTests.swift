import Testing

@testable import MediaBridge

@Suite("In which layers video is published")
struct PublishPlanTests {
  private func layers(
    _ width: Int32, _ height: Int32, _ options: VideoPublishOptions = VideoPublishOptions(), isScreen: Bool = false
  ) -> [PublishPlan.Layer] {
    PublishPlan(options, name: "x", size: Dimensions(width: width, height: height), isScreen: isScreen).layers
  }

  @Test(
    arguments: [
      (1280, 720, [180, 360, 720]), (960, 540, [180, 360, 540]), (640, 360, [180, 360]), (640, 480, [180, 480]),
      (320, 180, [180]), (720, 1280, [320, 640, 1280]), (1281, 721, [180, 360, 720]),
    ] as [(Int32, Int32, [Int32])])
  func layersOfACamera(width: Int32, height: Int32, heights: [Int32]) {
    let layers = layers(width, height)
    #expect(layers.map { $0.size?.height } == heights)
    #expect(layers.map(\.rid) == (layers.count == 1 ? [""] : Array(["q", "h", "f"].prefix(layers.count))))
    #expect(layers.compactMap(\.bitrate).sorted() == layers.map(\.bitrate))
    #expect(layers.last?.rate == nil)
  }

  @Test func aScreenHasOneOfHalfItsSize() {
    let layers = layers(1920, 1080, isScreen: true)
    #expect(layers.map { $0.size?.height } == [540, 1080])
    #expect(layers.map(\.bitrate) == [750_000, 3_000_000])
  }

  @Test func layersOfOnesOwnAreTaken() {
    let own = [VideoParameters.presetH540_169, .presetH90_169, .presetH2160_169]
    let layers = layers(1280, 720, VideoPublishOptions(simulcastLayers: own))
    #expect(layers.map { $0.size?.height } == [90, 540, 720])
    #expect(layers.map(\.rate) == [15, 25, nil])
    #expect(layers.map(\.bitrate) == [90_000, 800_000, 1_700_000])
  }

  @Test func noLayerHasMoreThanTheLargest() {
    let options = VideoPublishOptions(encoding: VideoEncoding(maxBitrate: 300_000, maxFps: 10))
    let layers = layers(1280, 720, options)
    #expect(layers.compactMap(\.bitrate).max() == 300_000 && layers.last?.rate == 10)
  }

  @Test(
    arguments: [
      VideoPublishOptions(simulcast: false), VideoPublishOptions(preferredCodec: .vp9),
      VideoPublishOptions(preferredCodec: .av1),
    ])
  func oneAlone(options: VideoPublishOptions) {
    #expect(layers(1920, 1080, options).map(\.rid) == [""])
  }

  @Test(arguments: [VideoCodec.vp9, .av1]) func besideSomeThereMayBeAnotherCodec(codec: VideoCodec) throws {
    let size = Dimensions(width: 1280, height: 720)
    let options = VideoPublishOptions(
      preferredCodec: codec, preferredBackupCodec: .h264, encodeTemplate: "mine", values: ["cpu-used": "8"])
    let plan = PublishPlan(options, name: "x", size: size, isScreen: false)
    let backup = try #require(plan.backupPlan)
    #expect(backup.codec == "h264" && backup.encodeTemplate == "h264-openh264" && backup.values.isEmpty)
    #expect(backup.layers.map(\.size) == plan.layers.map(\.size) && plan.layers.count == 1)
    let track = LocalVideoTrack.createBufferTrack()
    let first = plan.announcement(cid: "a", track: track).addTrack
    #expect(
      first.simulcastCodecs.map(\.codec) == [codec.rawValue, "h264"] && first.simulcastCodecs.map(\.cid) == ["a", ""])
    let second = backup.backupAnnouncement(cid: "b", track: track, sid: "TR_1").addTrack
    #expect(second.sid == "TR_1" && second.simulcastCodecs.map(\.cid) == ["b"] && second.layers.count == 1)
  }

  @Test(arguments: BackupCodecPolicy.allCases)
  func theServerIsToldWhatBecomesOfTheFirstCodec(policy: BackupCodecPolicy) {
    let options = VideoPublishOptions(preferredCodec: .vp9, preferredBackupCodec: .vp8, backupCodecPolicy: policy)
    let plan = PublishPlan(options, name: "x", size: Dimensions(width: 640, height: 360), isScreen: false)
    let request = plan.announcement(cid: "a", track: LocalVideoTrack.createBufferTrack()).addTrack
    // By the numbers of LiveKit's protocol.
    #expect(request.backupCodecPolicy.rawValue == [.preferRegression: 0, .simulcast: 1, .regression: 2][policy])
  }

  @Test(arguments: [VideoCodec.vp8, .h264]) func besideOthersThereIsNone(codec: VideoCodec) {
    let options = VideoPublishOptions(preferredCodec: codec, preferredBackupCodec: .vp8)
    let plan = PublishPlan(options, name: "x", size: Dimensions(width: 640, height: 360), isScreen: false)
    #expect(plan.backupPlan == nil)
    let track = LocalVideoTrack.createBufferTrack()
    #expect(plan.announcement(cid: "a", track: track).addTrack.simulcastCodecs.isEmpty)
  }
}
