import BridgeTesting
import Foundation
import MediaBridge
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// Templates with elements that are not installed.
@Suite struct MissingElementsTests {
  private let folder: TemporaryFolder
  private static let h264 = "video/x-h264,stream-format=avc,alignment=au"

  init() throws {
    folder = try TemporaryFolder()
    for kind in ["output", "encode", "mix"] {
      try FileManager.default.createDirectory(atPath: "\(folder.path)/\(kind)", withIntermediateDirectories: false)
    }
  }

  private func write(_ name: String, _ text: String) throws {
    try text.write(toFile: "\(folder.path)/\(name).pipeline", atomically: true, encoding: .utf8)
  }

  private func encoder(of input: String, makes caps: String, by element: String = "nosuchelement") -> String {
    """
    appsrc name=\(input) max-buffers=50 max-bytes=0 leaky-type=downstream ! \(element)
    ! appsink name=encoded sync=false caps="\(caps)"
    """
  }

  /// As on a machine that has nothing which encodes H.264.
  private func takeAwayH264() throws {
    let text = encoder(of: "frames", makes: Self.h264, by: "nosuchelement speed=${preset:-fast}")
    for variant in ["", "-archive", "-low-latency", "-nvenc", "-openh264", "-v4l2", "-vaapi"] {
      try write("encode/h264\(variant)", text)
    }
  }

  private func refusal(_ name: String, _ edit: (inout RecordingOptions) -> Void = { _ in }) async -> LiveKitError? {
    let room = Room(roomOptions: RoomOptions(audioPlayback: .off, pipelineFolder: folder.path))
    var options = RecordingOptions(file: "\(folder.path)/\(name)")
    edit(&options)
    return await refusal(of: Recorder(room: room, options: options))
  }

  private func refusal(of job: any EgressJob) async -> LiveKitError? {
    let error: LiveKitError?
    do throws(LiveKitError) {
      try await job.prepare()
      error = nil
    } catch let failure { error = failure }
    _ = try? await job.finish()
    return error
  }

  /// What `--dry-run` says.
  private func feeds(_ name: String) throws -> [String] {
    let options = RecordingOptions(file: name)
    let templates = try OutputTemplates(of: options.destinations[0], folder: folder.path)
    return try OutputFeeds.of(options, [templates], folder: folder.path).flatMap(\.lines)
  }

  @Test func thatOfAnOutputIsToldBeforeAnythingIsJoined() async throws {
    try write("output/bad", "appsrc name=audio caps=audio/x-opus\n! nosuchelement ! filesink location=${location}")
    let error = await refusal("x.bad")
    #expect(error?.code == .missingElement)
    for words in ["x.bad: ", "output/bad.pipeline:2: ", "'nosuchelement' is missing", "apt-cache search"] {
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
  }

  @Test func anEncodeTemplateThatLacksOneGivesWayToTheNext() async throws {
    try write("encode/h264", encoder(of: "frames", makes: Self.h264))
    let factory = PipelineFactory(folder: folder.path)
    let planner = try OutputPlanner(Destination(location: "x.mp4"), factory: factory)
    let plan = try planner.plan([.video: TrackTraits(codec: "vp8")])
    let chosen = plan.feeds[.video]?.encoder ?? "none"
    #expect(chosen.hasPrefix("h264-"), "\(chosen)")
    #expect(plan.replaced.map(\.encoder.name) == ["h264"] && plan.replaced.map(\.by.name) == [chosen])
    #expect(try planner.plan([.video: TrackTraits(codec: "h264")]).replaced.isEmpty, "nothing is encoded")
    let told = try feeds("x.mp4").filter { $0.hasPrefix("encode/h264 gives way to encode/\(chosen): ") }
    #expect(told.count == 1 && told.first?.contains("'nosuchelement' is missing") == true, "\(told)")
    let error = await refusal("x.mp4") { $0.encode = ["h264"] }
    #expect(error?.code == .missingElement && error?.message.contains("'nosuchelement'") == true)
  }

  @Test func thatOfTheOnlyEncodeTemplateIsToldBeforeAnythingIsJoined() async throws {
    try write("encode/aac", encoder(of: "pcm", makes: "audio/mpeg,mpegversion=4,stream-format=raw"))
    let error = await refusal("x.mp4")
    #expect(error?.code == .missingElement)
    for words in ["x.mp4: ", "encode/aac.pipeline:1: ", "'nosuchelement' is missing"] {
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
    #expect(await refusal("x.mkv") == nil)
  }

  /// What a single track is is known in the room alone.
  @Test func audioIsNotForeseenWhereOneTrackOrASourceOfVideoIsAskedFor() async throws {
    try write("encode/aac", encoder(of: "pcm", makes: "audio/mpeg,mpegversion=4,stream-format=raw"))
    #expect(await refusal("x.mp4") { $0.trackSids = ["TR_1"] } == nil)
    #expect(await refusal("x.mp4") { $0.sources = [.camera] } == nil)
    #expect(await refusal("x.mp4") { $0.sources = [.microphone] }?.code == .missingElement)
  }

  @Test func thatOfAMixIsToldBeforeAnythingIsJoined() async throws {
    try write("mix/video", "# Own.\ncompositor name=videomix\n! nosuchelement ! appsink name=frames")
    var options = CompositeOptions(file: "\(folder.path)/x.ogg")
    options.kinds = [.audio]
    let room = Room(roomOptions: RoomOptions(audioPlayback: .off, pipelineFolder: folder.path))
    #expect(await refusal(of: RoomComposite(room: room, options: options)) == nil, "frames are not mixed")
    // Nor where no destination takes them.
    options.kinds = [.video, .audio]
    #expect(await refusal(of: RoomComposite(room: room, options: options)) == nil)
    options = CompositeOptions(file: "\(folder.path)/x.mkv")
    let error = await refusal(of: RoomComposite(room: room, options: options))
    // What `--dry-run` says.
    let feeds = #expect(throws: LiveKitError.self) { try OutputFeeds.of(options, folder: folder.path) }
    for error in [error, feeds] {
      #expect(error?.code == .missingElement, "\(error?.message ?? "none")")
      for words in ["mix/video.pipeline:3: ", "'nosuchelement' is missing", "apt-cache search"] {
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "none")")
      }
    }
  }

  /// H.264 may come, which is stored as it is sent.
  @Test func thatOfOneThatMayNotBeNeededIsOnlyTold() async throws {
    try takeAwayH264()
    #expect(await refusal("x.mp4") == nil)
    let lines = try feeds("x.mp4")
    #expect(lines.contains("H264 is as sent: output/mp4 takes H264"), "\(lines)")
    let told = lines.filter { $0.hasPrefix("encode/h264 cannot run: ") }
    #expect(told.count == 1 && told.first?.contains("'nosuchelement' is missing") == true, "\(lines)")
  }

  @Test func thatOfOneThatIsNeededForCertainIsToldBeforeAnythingIsJoined() async throws {
    try takeAwayH264()
    let asked = await refusal("x.mp4") { $0.encode = ["h264"] }
    let set = await refusal("x.mp4") { $0.values = ["preset": "slow"] }
    let room = Room(roomOptions: RoomOptions(audioPlayback: .off, pipelineFolder: folder.path))
    let mixed = await refusal(
      of: RoomComposite(room: room, options: CompositeOptions(file: "\(folder.path)/x.mp4")))
    for error in [asked, set, mixed] {
      #expect(error?.code == .missingElement, "\(error?.message ?? "none")")
      #expect(error?.message.contains("encode/h264.pipeline:1: ") == true, "\(error?.message ?? "none")")
    }
  }

  /// And not taken for a name that there is not, where another template encodes without it.
  @Test func aVariableThatOnlyOneThatCannotRunHasIsToldWithTheElement() async throws {
    try takeAwayH264()
    try write("encode/h264-openh264", encoder(of: "frames", makes: Self.h264, by: "identity"))
    #expect(await refusal("x.mp4") == nil)
    let templates = try OutputTemplates(of: OutputDestination("x.mp4"), folder: folder.path)
    #expect(try templates.names(with: [:]).contains(TemplateName(.encode, "h264")))
    let error = await refusal("x.mp4") { $0.values = ["preset": "slow"] }
    #expect(error?.code == .missingElement, "\(error?.message ?? "none")")
    let unknown = await refusal("x.mp4") { $0.values = ["prestige": "slow"] }
    #expect(unknown?.code == .invalidParameter, "\(unknown?.message ?? "none")")
  }

  @Test func whatIsMissingGoesByTheValuesThatAreSet() async throws {
    try write("encode/own", encoder(of: "frames", makes: Self.h264, by: "${encoder:-nosuchelement}"))
    let plain = await refusal("x.mp4") { $0.encode = ["own"] }
    #expect(plain?.code == .missingElement, "\(plain?.message ?? "none")")
    let set = await refusal("x.mp4") { ($0.encode, $0.values) = (["own"], ["encoder": "identity"]) }
    #expect(set == nil, "\(set?.message ?? "")")
  }
}
