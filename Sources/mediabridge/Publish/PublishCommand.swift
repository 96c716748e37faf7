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
      A source is a file, an address (rtsp://, rtmp://, srt://, http://), - for standard input, /dev/videoN, screen, \
      screen-audio (what is heard), microphone, or the name of a capture template, such as pattern and tone: \
      `mediabridge pipelines list` shows them, and --set changes them. H.264, VP8, VP9 and Opus go as they are, in one \
      layer, where that can be: without B-frames, and with a keyframe every 4 s. All else, and all with --encode, is \
      decoded, and encoded as --codec in the layers that LiveKit's clients send. It ends with its files, or at Ctrl-C.
      """)

  @Argument(help: ArgumentHelp("What to publish", valueName: "source")) var sources: [String] = []
  @OptionGroup var access: RoomArguments
  @OptionGroup var set: AssignmentArguments<OfTemplates>
  @OptionGroup var drawing: DrawingArguments
  @Flag(help: "Print the cameras, microphones, loudspeakers and screens of this machine, and end")
  var listDevices = false
  @Flag(help: "Encode everything, also what could be sent as it is") var encode = false
  @Option(
    help: ArgumentHelp(
      "Send video as vp8, vp9, h264 or av1, encoded where it is in another codec; without it what is encoded is vp8",
      valueName: "codec"))
  var codec: String?
  @Option(
    help: ArgumentHelp(
      "Send video also as vp8 or h264 while somebody is in the room who cannot receive --codec vp9 or av1",
      valueName: "codec"))
  var backupCodec: String?
  @Option(
    help: ArgumentHelp(
      "What becomes of --codec once --backup-codec is sent: regression (everybody receives that instead), simulcast "
        + "(both are sent), or prefer-regression (the server decides), which is the default",
      valueName: "policy"),
    transform: word(named:))
  var backupCodecPolicy: BackupCodecPolicy?
  @Option(
    help: ArgumentHelp("Bitrate of the largest layer, such as 3000 for 3 Mbit/s", valueName: "kbit/s"),
    transform: videoBitrate(of:))
  var videoBitrate: Int?
  @Option(help: ArgumentHelp("Bitrate of audio, 6 to 510", valueName: "kbit/s"), transform: audioBitrate(of:))
  var audioBitrate: Int?
  @Flag(help: "Send each packet of audio once only, which halves its bitrate (no RED)") var noRed = false
  @Flag(help: "Encode video in one size only, not in several (simulcast)") var singleLayer = false
  @Option(
    help: ArgumentHelp(
      "Process templates that frames go through before they are sent, such as blur or crop,logo; their variables are set "
        + "with --set, those of one alone with --set NAME.name=value", valueName: "name,..."))
  var process: String?
  @Flag(help: "Publish files from their beginning again when they end") var loop = false
  @Option(
    help: ArgumentHelp("Where in the files to begin, such as 1m30s, with --loop each time", valueName: "time"),
    transform: duration(of:))
  var seek: Duration?
  @Option(
    help: ArgumentHelp(
      "How long a live source that went away is tried again, once it has sent something; 30s by default",
      valueName: "time"),
    transform: duration(of:))
  var reconnectFor = Duration.seconds(30)
  @Option(
    help: "How long to publish, the wait for callers included; without it until the files end, or Ctrl-C",
    transform: duration(of:))
  var duration: Duration?

  func validate() throws {
    // Who lists devices joins no room.
    if !listDevices { try access.checkAccess() }
    guard listDevices || !sources.isEmpty else {
      throw ValidationError("give what to publish, such as a file or pattern")
    }
    if let codec { try PublishedCodec.check(codec) }
    if let backupCodec {
      guard ["vp8", "h264"].contains(backupCodec) else {
        throw ValidationError("--backup-codec \(backupCodec): give vp8 or h264")
      }
      guard codec == "vp9" || codec == "av1" else {
        throw ValidationError("--backup-codec is for what is sent with --codec vp9 or av1")
      }
    } else if backupCodecPolicy != nil {
      throw ValidationError("--backup-codec-policy is for --backup-codec: give that, too")
    }
    _ = try words()
  }

  private struct Words {
    /// Each with the values that are set for its template.
    var sources: [PublishSource]
    var process: PublishProcess
    /// Of the encoders.
    var video: [String: String]
    var audio: [String: String]
  }

  /// What the command line says. No pipeline is built: what the library refuses is told by `run`, with its code.
  private func words() throws -> Words {
    let known = try captureTemplates()
    var sources = try sources.map { try PublishSource($0, templates: known) }
    try PublishSource.check(sources, isLooped: loop, from: seek)
    var process = try PublishProcess(process, folder: access.pipelines)
    let groups =
      [sources.map(\.templateName)] + process.templates.map { [$0] }
      + [videoOptions().templates, audioOptions().templates]
    let places = sources.map(\.place) + process.places
    let values = try set.values(for: groups, folder: access.pipelines, besides: places)
    let own = try set.own(places)
    for index in sources.indices { try sources[index].set(values[0], own[index], folder: access.pipelines) }
    process.set(Array(values[1..<values.count - 2]), Array(own[sources.count...]))
    return Words(
      sources: sources, process: process, video: values[values.count - 2], audio: values[values.count - 1])
  }

  /// - Throws: what a template does not take, or that there is nothing to be processed.
  private func make(_ words: Words) throws(LiveKitError) -> [Publisher.Source] {
    _ = try words.process.make()
    var sources: [Publisher.Source] = []
    for word in words.sources {
      let media = word.make(from: seek ?? .zero, passthrough: passthrough, folder: access.pipelines)
      do throws(LiveKitError) { try media.check() } catch { throw word.explained(error) }
      sources.append((word, media))
    }
    let factory = PipelineFactory(folder: access.pipelines)
    let hasVideo = words.sources.contains { source in
      (try? CapturePipeline.kinds(of: source.template, factory: factory))?.contains(.video) ?? true
    }
    try words.process.check(hasVideo: hasVideo)
    try checkEncoders(words, factory)
    return sources
  }

  /// What is encoded in any case is so by templates that can be read, whose elements are there.
  private func checkEncoders(_ words: Words, _ factory: PipelineFactory) throws(LiveKitError) {
    func isNeeded(_ kind: CapturePipeline.Kind, _ passes: Bool) -> Bool {
      words.sources.contains { $0.isEncoded(kind, passes: passes, by: factory) }
    }
    let groups = [
      (isNeeded(.video, !passthrough.video.isEmpty), videoOptions().templates, words.video),
      (isNeeded(.audio, passthrough.opus), audioOptions().templates, words.audio),
    ]
    for (isNeeded, names, values) in groups where isNeeded {
      try LiveKitError.wrapping { () throws(PipelineFailure) -> Void in
        let factory = PipelineFactory(folder: access.pipelines, overrides: values)
        try factory.check(names)
        try factory.checkElements(of: names)
      }
    }
  }

  /// What is sent as it is where it can be.
  private var passthrough: Passthrough {
    var passthrough = encode ? Passthrough.none : .possible
    if let chosen = codec.flatMap(VideoCodec.init(rawValue:)) { passthrough.video.formIntersection([chosen]) }
    if videoBitrate != nil || process != nil { passthrough.video = [] }
    if audioBitrate != nil { passthrough.opus = false }
    return passthrough
  }

  /// Of the capture templates, those that make tracks.
  private func captureTemplates() throws -> [String] {
    let factory = PipelineFactory(folder: access.pipelines)
    return try factory.names(of: .capture).map(\.name).filter { name in
      (try? CapturePipeline.kinds(of: name, factory: factory))?.isEmpty == false
    }
  }

  func run() async throws {
    let console = access.console()
    guard !listDevices else { return try await DeviceList.print(console) }
    let room = Room(roomOptions: access.roomOptions(autoSubscribe: false, dynacast: true))
    do { try await publish(by: room, console) } catch {
      await room.disconnect()
      console.fail(error)
      throw ExitCode.failure
    }
  }

  private func publish(by room: Room, _ console: Console) async throws {
    let (words, interruption) = (try words(), Interruption())
    let publisher = Publisher(
      room: room, sources: try make(words), process: words.process, video: videoOptions(words.video),
      audio: audioOptions(words.audio), isLooped: loop, reconnectFor: reconnectFor, console: console)
    let (url, token) = (try access.serverURL(), try access.accessToken(grant: VideoGrant.publisher))
    try drawing.begin()
    try await publisher.readFiles(interruption)
    try await console.join(url, interruption) {
      try await room.connect(url: url, token: token, connectOptions: access.connectOptions)
    }
    try await publisher.run(interruption, for: duration)
    await room.disconnect()
    try Drawings.check()
  }

  private func videoOptions(_ values: [String: String] = [:]) -> VideoPublishOptions {
    // All frames that there are.
    let encoding = videoBitrate.map { VideoEncoding(maxBitrate: $0 * 1000, maxFps: 1000) }
    return VideoPublishOptions(
      encoding: encoding, screenShareEncoding: encoding, simulcast: !singleLayer,
      preferredCodec: codec.flatMap(VideoCodec.init(rawValue:)) ?? .vp8,
      preferredBackupCodec: backupCodec.flatMap(VideoCodec.init(rawValue:)),
      backupCodecPolicy: backupCodecPolicy ?? .preferRegression, values: values)
  }

  private func audioOptions(_ values: [String: String] = [:]) -> AudioPublishOptions {
    AudioPublishOptions(
      encoding: audioBitrate.map { AudioEncoding(maxBitrate: $0 * 1000) }, red: !noRed, values: values)
  }
}
