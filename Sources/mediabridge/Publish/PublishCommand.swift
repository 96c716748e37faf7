import ArgumentParser
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaPipelines

struct PublishCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish", abstract: "Send files, live streams, a camera, a screen or a test pattern into a room.",
    usage: "mediabridge publish <source> ... [<options>]",
    discussion: """
      A source is a file, an address (rtsp://, rtmp://, srt://, http://), /dev/videoN, screen, microphone, or the name of a \
      capture template, such as pattern and tone: `mediabridge pipelines list` shows them, and --set changes them. It is \
      decoded, and encoded as --codec in the layers that LiveKit's clients send. It ends with its files, or at Ctrl-C.
      """)

  @Argument(help: ArgumentHelp("What to publish", valueName: "source")) var sources: [String]
  @OptionGroup var access: RoomArguments
  @OptionGroup var set: SetArguments
  @OptionGroup var drawing: DrawingArguments
  @Option(help: ArgumentHelp("vp8, vp9 or h264", valueName: "codec")) var codec = "vp8"
  @Option(help: ArgumentHelp("Bits a second of the largest layer, in thousands", valueName: "kbit/s"))
  var videoBitrate: Int?
  @Option(help: ArgumentHelp("Bits a second of audio, in thousands", valueName: "kbit/s")) var audioBitrate: Int?
  @Flag(help: "Send one layer of video only") var singleLayer = false
  @Flag(help: "Publish files from their beginning again when they end") var loop = false
  @Option(
    help: ArgumentHelp("How long a live source that went away is tried again", valueName: "time"),
    transform: duration(of:))
  var reconnectFor = Duration.seconds(30)
  @Option(help: "How long; without it until the files end, or Ctrl-C", transform: duration(of:)) var duration: Duration?

  func validate() throws {
    guard ["vp8", "vp9", "h264"].contains(codec) else {
      throw ValidationError("--codec \(codec): give vp8, vp9 or h264")
    }
    for (name, value) in [("--video-bitrate", videoBitrate), ("--audio-bitrate", audioBitrate)] {
      guard let value, !(1...1_000_000).contains(value) else { continue }
      throw ValidationError("\(name) \(value): give 1 to 1000000, in thousands of bits a second")
    }
    _ = try plan()
  }

  /// The sources, each with the values that are set for its template, and those of the encoders.
  private func plan() throws -> (sources: [(word: PublishSource, media: MediaSource)], values: [String: String]) {
    let known = try captureTemplates()
    let sources = try sources.map { try PublishSource($0, templates: known) }
    let groups = [
      sources.map { TemplateName(.capture, $0.template) }, videoOptions().templates + audioOptions().templates,
    ]
    let values = try set.values(for: groups, folder: access.pipelines)
    return (sources.map { ($0, $0.make(values: values[0], folder: access.pipelines)) }, values[1])
  }

  /// Of the capture templates, those that make raw media.
  private func captureTemplates() throws -> [String] {
    let factory = PipelineFactory(folder: access.pipelines, overrides: ["location": ""])
    return try factory.names(of: .capture).map(\.name).filter { name in
      (try? CapturePipeline.outputs(of: name, factory: factory))?.isEmpty == false
    }
  }

  func run() async throws {
    let console = access.console()
    let (plan, interruption) = (try plan(), Interruption())
    let room = Room(roomOptions: access.roomOptions(autoSubscribe: false))
    let publisher = Publisher(
      room: room, sources: plan.sources, video: videoOptions(plan.values),
      audio: audioOptions(plan.values), isLooped: loop, reconnectFor: reconnectFor, console: console)
    do {
      let (url, token) = (try access.serverURL(), try await access.accessToken(grant: VideoGrant.publisher))
      try drawing.begin()
      try await console.join(url, interruption) {
        try await room.connect(url: url, token: token, connectOptions: access.connectOptions)
      }
      try await publisher.run(interruption, for: duration)
      await room.disconnect()
      try Drawings.check()
    } catch {
      await room.disconnect()
      console.fail(error)
      throw ExitCode.failure
    }
  }

  private func videoOptions(_ values: [String: String] = [:]) -> VideoPublishOptions {
    VideoPublishOptions(
      encoding: videoBitrate.map { VideoEncoding(maxBitrate: $0 * 1000) }, simulcast: !singleLayer,
      preferredCodec: VideoCodec(rawValue: codec) ?? .vp8, values: values)
  }

  private func audioOptions(_ values: [String: String] = [:]) -> AudioPublishOptions {
    AudioPublishOptions(maxBitrate: audioBitrate.map { $0 * 1000 }, values: values)
  }
}
