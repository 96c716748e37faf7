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

  init() throws {
    folder = try TemporaryFolder()
    for kind in ["output", "encode"] {
      try FileManager.default.createDirectory(atPath: "\(folder.path)/\(kind)", withIntermediateDirectories: false)
    }
  }

  private func write(_ name: String, _ text: String) throws {
    try text.write(toFile: "\(folder.path)/\(name).pipeline", atomically: true, encoding: .utf8)
  }

  private func encoder(of input: String, makes caps: String) -> String {
    """
    appsrc name=\(input) max-buffers=50 max-bytes=0 leaky-type=downstream ! nosuchelement
    ! appsink name=encoded sync=false caps="\(caps)"
    """
  }

  private func refusal(_ name: String) async -> LiveKitError? {
    let room = Room(roomOptions: RoomOptions(audioPlayback: .off, pipelineFolder: folder.path))
    let recorder = Recorder(room: room, options: RecordingOptions(file: "\(folder.path)/\(name)"))
    let error: LiveKitError?
    do throws(LiveKitError) {
      try await recorder.prepare()
      error = nil
    } catch let failure { error = failure }
    _ = try? await recorder.finish()
    return error
  }

  @Test func thatOfAnOutputIsToldBeforeAnythingIsJoined() async throws {
    try write("output/bad", "appsrc name=audio caps=audio/x-opus\n! nosuchelement ! filesink location=${location}")
    let error = await refusal("x.bad")
    #expect(error?.code == .missingElement)
    for words in ["x.bad: ", "output/bad.pipeline:2: ", "'nosuchelement' is missing", "apt-cache search"] {
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
  }

  @Test func anEncodeTemplateThatLacksOneGivesWayToTheNext() throws {
    try write("encode/h264", encoder(of: "frames", makes: "video/x-h264,stream-format=avc,alignment=au"))
    let factory = PipelineFactory(folder: folder.path)
    let planner = try OutputPlanner(Destination(location: "x.mp4"), factory: factory)
    let chosen = try planner.plan([.video: TrackTraits(codec: "vp8")]).feeds[.video]?.encoder
    #expect(chosen?.hasPrefix("h264-") == true, "\(chosen ?? "none")")
    let error = #expect(throws: LiveKitError.self) {
      try OutputPlanner(Destination(location: "x.mp4"), encode: ["h264"], factory: factory)
    }
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
}
