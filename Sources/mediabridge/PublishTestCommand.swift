import ArgumentParser
import Foundation
import LiveKitProtocol
import MediaBridge

/// A synthetic participant, for the demo, tests and benchmarks.
struct PublishTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish-test", abstract: "Publish a moving test picture with a clock and a tone.",
    shouldDisplay: false)

  @OptionGroup var access: RoomArguments
  @Option(help: "vp8 or h264") var codec = "vp8"
  @Option(help: "How long; without it until Ctrl-C", transform: duration(of:)) var duration: Duration?

  func validate() throws {
    guard ["vp8", "h264"].contains(codec) else { throw ValidationError("--codec \(codec): vp8 or h264") }
  }

  func run() async throws {
    let console = access.console()
    let token = try await access.accessToken { room in
      var grant = VideoGrant(room: room, roomJoin: true)
      grant.canPublish = true
      return grant
    }
    let publisher = CapturePublisher.synthetic(
      codec: codec, values: try access.pipelineValues(), pipelineFolder: access.pipelines)
    do {
      try await publisher.connect(url: try access.serverURL(), token: token)
    } catch {
      console.fail(error)
      throw ExitCode.failure
    }
    console.event("publishing")
    await Interruption().wait(atMost: duration)
    await publisher.disconnect()
  }
}
