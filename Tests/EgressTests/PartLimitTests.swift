import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// When a file's next part is to begin.
@Suite struct PartLimitTests {
  private func due(_ limit: PartLimit, begin: Int = 0, now: Double, isFull: Bool = false) -> Duration? {
    limit.due(begin: .seconds(begin), now: .seconds(now), isFull: isFull)
  }

  @Test func aPartIsOpenedASecondAheadOfItsBeginning() {
    let limit = PartLimit(duration: .seconds(10))
    #expect(due(limit, now: 8.9) == nil)
    #expect(due(limit, now: 9) == .seconds(10))
    #expect(due(limit, now: 30) == .seconds(10), "it is late, and begins at once")
    #expect(due(limit, begin: 20, now: 28) == nil && due(limit, begin: 20, now: 29.5) == .seconds(30))
  }

  @Test func theFirstOfBothCounts() {
    let limit = PartLimit(duration: .seconds(10), bytes: 1_000_000)
    #expect(due(limit, now: 4, isFull: true) == .seconds(4))
    #expect(due(limit, now: 9.5) == .seconds(10))
  }

  /// After six hours the header of a WAV file would tell a wrong length.
  @Test func aFormatsOwnLimitCountsToo() throws {
    let wav = try OutputPlanner(Destination(location: "a.wav"), factory: PipelineFactory(folder: nil)).largestFile
    let limit = PartLimit.limit(nil, atMost: wav)
    #expect(
      limit?.duration == nil && limit?.bytes == wav && wav.map { $0 < 1 << 32 && $0 > 6 * 3600 * 192_000 } == true)
    let asked = PartLimit(duration: .seconds(60), bytes: 1_000_000)
    #expect(PartLimit.limit(asked, atMost: wav) == asked)
    #expect(
      PartLimit.limit(PartLimit(duration: .seconds(60)), atMost: 5) == PartLimit(duration: .seconds(60), bytes: 5))
    #expect(PartLimit.limit(asked, atMost: nil) == asked)
    #expect(try OutputPlanner(Destination(location: "a.mp4"), factory: PipelineFactory(folder: nil)).largestFile == nil)
  }

  private static let images = [OutputDestination("shots/image.jpg"), OutputDestination("shots/still.png")]
  private static let live = [
    OutputDestination("live.m3u8", values: ["playlist": "live"]),
    OutputDestination("web/low", output: "hls-low-latency"),
  ]
  private static let event = ["playlist": "event", "delete-segments": "false"]
  private static let cut = [
    OutputDestination("a.mp4"), OutputDestination("a.m3u8"),
    OutputDestination("web/a", output: "hls-low-latency", values: event),
  ]

  private func options(_ destinations: [OutputDestination]) -> RecordingOptions {
    var options = RecordingOptions(destinations: destinations)
    options.parts = PartLimit(duration: .seconds(600))
    return options
  }

  /// Whoever plays a live playlist, or looks at the newest image, knows one name of it.
  @Test func imagesAndLivePlaylistsAreNotCut() throws {
    func limits(_ destinations: [OutputDestination]) throws -> [PartLimit?] {
      try RecordingTargets(options(destinations), folder: nil).all.map(\.parts)
    }
    #expect(try limits(Self.cut).allSatisfy { $0 == PartLimit(duration: .seconds(600)) })
    #expect(try limits(Self.images + Self.live).allSatisfy { $0 == nil })
  }

  @Test func whereNothingIsCutThatIsSaid() throws {
    func check(_ destinations: [OutputDestination]) throws(LiveKitError) {
      var options = options(destinations)
      var targets = try RecordingTargets(options, folder: nil)
      try targets.check(&options)
    }
    let one = #expect(throws: LiveKitError.self) { try check([Self.live[0]]) }
    #expect(one?.code == .invalidParameter && one?.message.contains("live.m3u8 has none: live servers,") == true)
    let more = #expect(throws: LiveKitError.self) { try check(Self.images + [OutputDestination("udp://127.0.0.1:9")]) }
    #expect(more?.message.contains("shots/image.jpg and shots/still.png and udp://127.0.0.1:9 have none") == true)
    for destination in Self.cut { try check(Self.images + Self.live + [destination]) }
  }
}
