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

  /// Of nobody else.
  private static let ownFile = "demo.mp4"

  @Option(help: "File to write; only demo.mp4 is replaced without --overwrite") var output = DemoCommand.ownFile
  @Flag(help: "Replace a file that holds something already") var overwrite = false
  @Option(help: "How long to record; 10s by default", transform: duration(of:)) var duration: Duration = .seconds(10)
  @OptionGroup var templates: PipelineArguments
  @Flag(help: "JSON lines instead of text") var json = false

  func validate() throws {
    guard duration > .zero else { throw ValidationError("--duration: there is nothing to record in no time") }
  }

  func run() async throws {
    ConsoleLog.start(isVerbose: false)
    let console = Console(isJSON: json, judgesCommandLine: true)
    do { try await perform(console) } catch {
      console.fail(error)
      throw ExitCode.failure
    }
  }

  private func perform(_ console: Console) async throws {
    var options = RecordingOptions(file: output, participant: "alice", wait: .seconds(20))
    options.duration = duration
    options.replacesFiles = overwrite || output == Self.ownFile
    let room = Room(
      roomOptions: RoomOptions(autoSubscribe: false, audioPlayback: .off, pipelineFolder: templates.folder))
    let recorder = Recorder(room: room, options: options)
    try await recorder.prepare()
    let server = DevServer(configuration: .init(port: 0))
    let url = "ws://127.0.0.1:\(try await server.start())"
    console.say("Development server on \(url)")
    let recording = Recording(console: console, room: room, source: recorder, options: options)
    let outcome = await Self.outcome {
      try await publish(to: url, console) {
        try await recording.run(url: url, token: try Self.token("recorder", .recorder(room: "demo")))
      }
    }
    await server.stop()
    try outcome.get()
    guard let made = await recorder.progress().destinations.first, made.isFile else { return }
    console.say("It is at \(URL(fileURLWithPath: made.location).path): play it with any player.")
  }

  /// Two are in the room while `body` runs.
  private func publish(to url: String, _ console: Console, _ body: () async throws -> Void) async throws {
    var rooms: [Room] = []
    let outcome = await Self.outcome {
      for (name, codec, frequency) in [("alice", VideoCodec.h264, "440"), ("bob", .vp8, "660")] {
        let image = TestImage(codec: codec, tone: ["frequency": frequency])
        let token = try Self.token(name, .publisher(room: "demo"))
        rooms.append(try await image.join(url: url, token: token, pipelineFolder: templates.folder))
        console.say("\(name) publishes a test image and a tone over WebRTC")
      }
      try await body()
    }
    for room in rooms { await room.disconnect() }
    try outcome.get()
  }

  private static func outcome(_ body: () async throws -> Void) async -> Result<Void, any Error> {
    do { return .success(try await body()) } catch { return .failure(error) }
  }

  private static func token(_ identity: String, _ grant: VideoGrant) throws -> String {
    try AccessToken(apiKey: "devkey", identity: identity, grant: grant, validFor: 3600, now: Date())
      .signed(secret: "secret")
  }
}
