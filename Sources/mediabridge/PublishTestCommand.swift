import ArgumentParser
import Foundation
import LiveKitProtocol
import MediaBridge

/// Synthetic participants, for the demo, tests and benchmarks.
struct PublishTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish-test", abstract: "Publish a moving test picture with a clock and a tone.",
    shouldDisplay: false)

  @OptionGroup var access: RoomArguments
  @Option(help: "vp8 or h264") var codec = "vp8"
  @Option(help: "How long; without it until Ctrl-C", transform: duration(of:)) var duration: Duration?
  @Option(help: "Capture text of H.264 whose pictures are made once, in three layers, and sent over and over")
  var clip: String?
  @Option(help: "How many participants show the clip, as IDENTITY-1 and so on") var participants = 1

  func validate() throws {
    guard ["vp8", "h264"].contains(codec) else { throw ValidationError("--codec \(codec): vp8 or h264") }
  }

  func run() async throws {
    let console = access.console()
    do {
      let publishers = try await publishers()
      for (index, publisher) in publishers.enumerated() {
        try await publisher.connect(url: try access.serverURL(), token: try await token(index))
      }
      console.event("publishing")
      await Interruption().wait(atMost: duration)
      for publisher in publishers { await publisher.disconnect() }
    } catch let error as LiveKitError {
      console.fail(error)
      throw ExitCode.failure
    }
  }

  private func publishers() async throws -> [CapturePublisher] {
    let values = try access.pipelineValues()
    guard let clip else {
      return [CapturePublisher.synthetic(codec: codec, values: values, pipelineFolder: access.pipelines)]
    }
    let recorded = try await CaptureClip.record(
      template: clip, layers: Self.layers, rate: Self.rate, seconds: 4, values: values, pipelineFolder: access.pipelines
    )
    return (0..<participants).map { _ in CapturePublisher.showing(recorded, codec: "h264") }
  }

  /// What LiveKit's clients send of a 720p camera.
  private static let layers = [
    CaptureClip.Layer(dimensions: Dimensions(width: 320, height: 180), bitrate: 160_000),
    CaptureClip.Layer(dimensions: Dimensions(width: 640, height: 360), bitrate: 450_000),
    CaptureClip.Layer(dimensions: Dimensions(width: 1280, height: 720), bitrate: 1_700_000),
  ]
  private static let rate = 15

  private func token(_ index: Int) async throws -> String {
    var access = access
    if participants > 1 { access.identity = "\(access.identity ?? "clip")-\(index + 1)" }
    return try await access.accessToken { room in
      var grant = VideoGrant(room: room, roomJoin: true)
      grant.canPublish = true
      return grant
    }
  }
}
