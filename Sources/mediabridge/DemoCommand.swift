import ArgumentParser
import DevServer
import Egress
import Foundation
import LiveKitProtocol
import MediaBridge
import SyntheticParticipants

struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Start a room of our own, publish two synthetic participants into it, and record one of them.",
    usage: "mediabridge demo [<options>]")

  @Option(help: "File to write") var output = "demo.mp4"
  @Option(help: "How long to record", transform: duration(of:)) var duration: Duration = .seconds(10)
  @OptionGroup var templates: PipelineArguments
  @Flag(help: "JSON lines instead of text") var json = false

  func run() async throws {
    ConsoleLog.start(isVerbose: false)
    let console = Console(isJSON: json)
    do { try await perform(console) } catch {
      console.fail(error)
      throw ExitCode.failure
    }
  }

  private func perform(_ console: Console) async throws {
    var options = RecordingOptions(file: output, participant: "alice", wait: .seconds(20))
    options.duration = duration
    let pipelines = templates.folder
    let room = Room(roomOptions: RoomOptions(autoSubscribe: false, audioPlayback: .off, pipelineFolder: pipelines))
    let recorder = Recorder(room: room, options: options)
    try await recorder.prepare()
    let server = DevServer(configuration: .init(port: 0))
    let url = "ws://127.0.0.1:\(try await server.start())"
    console.say("Development server on \(url)")
    let publishers = [
      CapturePublisher.synthetic(
        codec: "h264", audioValues: ["frequency": "440"], pipelineFolder: pipelines),
      CapturePublisher.synthetic(codec: "vp8", audioValues: ["frequency": "660"], pipelineFolder: pipelines),
    ]
    for (publisher, name) in zip(publishers, ["alice", "bob"]) {
      let grant = VideoGrant.publisher(room: "demo")
      try await publisher.connect(url: url, token: Self.token(name, grant))
      console.say("\(name) publishes a test image and a tone over WebRTC")
    }
    let recording = Recording(console: console, room: room, source: recorder, options: options)
    let outcome = await Self.outcome {
      try await recording.run(url: url, token: try await Self.token("recorder", .recorder(room: "demo")))
    }
    for publisher in publishers { await publisher.disconnect() }
    await server.stop()
    try outcome.get()
    console.say("It is at \(URL(fileURLWithPath: output).path): play it with any player.")
  }

  private static func outcome(_ body: () async throws -> Void) async -> Result<Void, any Error> {
    do { return .success(try await body()) } catch { return .failure(error) }
  }

  private static func token(_ identity: String, _ grant: VideoGrant) async throws -> String {
    try await AccessToken(apiKey: "devkey", identity: identity, grant: grant, validFor: 3600, now: Date())
      .signed(secret: "secret")
  }
}
