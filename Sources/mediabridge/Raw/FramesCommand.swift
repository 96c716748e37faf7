import ArgumentParser
import Egress
import Foundation
import MediaBridge
import MediaCore

struct FramesCommand: AsyncParsableCommand, RawCommand {
  static let configuration = CommandConfiguration(
    commandName: "frames", abstract: "Hand the frames of a participant, or of the mixed room, to other programs.",
    usage: "mediabridge frames [<options>] [<destination>]",
    discussion: """
      The destination is standard output, a named pipe, a file, a socket, shared memory, or for images a folder of numbered \
      ones, whose name ends with /. Frames are upright, \
      and all have one size: that of --size, or of the first one; one of another shape has black borders. i420, nv12, rgb24, \
      bgr24 and gray8 are the samples alone, without padding; y4m says its size and rate itself.

      A reader that is too slow holds up nobody: frames that have waited for half a second are dropped, and counted. One that \
      closes its end ends the command. What a file or a folder lacks because its disk or this machine was too slow is said \
      at the end, as an error.

      Where one participant is taken alone, another one who fits follows once nothing of them is there any more; each \
      time it is said whose frames are taken.

      What the program says goes to standard error while standard output carries frames.
      """)

  @OptionGroup var raw: RawArguments

  @Option(
    help: ArgumentHelp(
      "i420, nv12, rgb24, bgr24, gray8, y4m, png or jpeg; without it what the file's name ends in, .y4m, else i420",
      valueName: "format"))
  var format: RawFormat?

  @Option(
    help: ArgumentHelp(
      "Size of all frames, such as 320x180: the server is asked for the layer that comes closest", valueName: "WxH"),
    transform: size(of:))
  var size: Dimensions?

  @Option(
    help: "Frames a second, 1 to 120, at an even rate: the newest is repeated, or some are left out; 30 with y4m",
    transform: evenRate(of:))
  var fps: Int?

  @OptionGroup var composite: CompositeArguments

  // Known, to say why they are of no use here.
  @Option(help: .hidden) var audioMixing: String?
  @Option(help: .hidden) var audioTracks: String?

  func validate() throws {
    try raw.access.checkAccess()
    try raw.validateSource(.video, "frames", isMixed: isMixed)
    if audioMixing != nil || audioTracks != nil {
      throw ValidationError("--audio-mixing and --audio-tracks: frames have no audio; 'pcm --mix' has it")
    }
    if isMixed {
      try validateComposite()
    } else {
      try raw.validateOne(both: "--each hands on each for themselves, --composite grid mixes them")
    }
    try raw.validateNames(isMixed ? .composite : .ofOne)
    try validateFormat()
    if raw.target.isWebSocket {
      let name = WebSocketSink.shown(raw.destination)
      throw ValidationError("\(name): a WebSocket takes audio alone, of 'pcm'; use a socket or --exec here")
    }
    // As far as what mixes goes.
    if let fps, !(1...120).contains(fps) { throw ValidationError("--fps \(fps): give 1 to 120") }
  }

  private func validateFormat() throws {
    if outputFormat.isImage { try raw.validateImages(outputFormat) }
    try raw.validateEnding(format)
    if let folder = raw.folder, !outputFormat.isImage {
      throw ValidationError(RawArguments.refusal(ofFolder: folder).message)
    }
    if outputFormat == .y4m, raw.framed {
      throw ValidationError("--framed says size and time itself: use --format i420")
    }
    if raw.target.isSharedMemory { try validateShared() }
  }

  private var outputFormat: RawFormat { format ?? RawFormat.named(raw.ending) ?? .i420 }

  var product: String {
    let rate = fps.map { ", \($0) frames a second" } ?? ""
    let what = composite.layout.map { "the room mixed as \($0.rawValue)" } ?? raw.choice(.video).wish
    return "\(what) as \(outputFormat.rawValue)\(size.map { " of \($0)" } ?? "")\(rate)"
  }

  private var isMixed: Bool { composite.layout != nil }

  private func validateComposite() throws {
    if raw.each { throw ValidationError("--composite and --each exclude each other: all in one, or each alone") }
    if !raw.tracks.source.isEmpty || !raw.tracks.track.isEmpty || !raw.tracks.trackName.isEmpty {
      throw ValidationError("--composite has all tracks: leave out --source, --track and --track-name")
    }
    if composite.layout == .participant, !raw.isOfOne {
      throw ValidationError("--composite participant: say of whom with --participant IDENTITY")
    }
  }

  private func validateShared() throws {
    if raw.framed { throw ValidationError("--framed is for pipes: shared memory has frames of one participant") }
    guard outputFormat.isImage || outputFormat == .y4m else { return }
    throw ValidationError(
      "shared memory has frames of samples, not \(outputFormat.rawValue): give --format i420 or rgb24")
  }

  func run() async throws {
    try await raw.run { console, media in
      let room = Room(
        roomOptions: raw.access.roomOptions(
          autoSubscribe: false, adaptiveStream: isMixed, receiveValues: try raw.values(isMixed: isMixed).receive))
      try await work(in: room, console, media).run(raw.visit(room, console))
    }
  }

  func work(in room: Room, _ console: Console, _ media: Int32?) throws -> RawWork {
    let (request, raw, format) = (request, raw, outputFormat)
    let mixing = try mixing
    try mixing?.check()
    let info = try raw.infoLog(media, console)
    let replies = raw.replies(to: room, console)
    let destinations = RawDestinations(
      raw, media, limits: raw.frameLimits, unit: "frame", info: info, replies: replies, console
    ) { path throws(LiveKitError) in try raw.sink(path, format) }
    let environment = ["MEDIABRIDGE_FORMAT": format.rawValue]
    if let options = mixing {
      let output = try destinations.receiver(
        for: RawSubject(), in: room, environment: environment.merging(sizes) { $1 })
      let stream = FrameStream(request, output: output, isFramed: raw.framed, info: info, number: 1)
      let frames = CompositeFrames(
        room: room, options: options, stream: stream, console, info: info, replies: replies)
      return RawWork(composite: frames.job) { try await frames.run($0) }
    }
    let taken = RawSession.Request(
      choice: raw.choice(.video), extent: raw.each ? .each : .one, wish: .init(size: size, fps: fps),
      rate: request.fps, endsWithParticipant: raw.endsWithParticipant,
      waitsForName: try raw.waitsForName)
    let session = RawSession(room: room, taken, console: console, info: info, replies: replies) {
      number, subject throws(LiveKitError) in
      FrameStream(
        request,
        output: try destinations.receiver(for: subject, in: room, environment: environment.merging(sizes) { $1 }),
        isFramed: raw.framed, info: info, number: number)
    }
    return RawWork { try await session.run($0, duration: raw.duration, wait: raw.wait) }
  }

  /// What a command is told of the frames, as far as it is known before the first.
  private var sizes: [String: String] {
    var sizes: [String: String] = [:]
    if let size { (sizes["MEDIABRIDGE_WIDTH"], sizes["MEDIABRIDGE_HEIGHT"]) = ("\(size.width)", "\(size.height)") }
    if let fps { sizes["MEDIABRIDGE_FPS"] = "\(fps)" }
    return sizes
  }

  /// How the room is mixed; nil for the frames of one participant, or of each.
  var mixing: CompositeOptions? {
    get throws {
      guard let layout = composite.layout else { return nil }
      var options = CompositeOptions(
        destinations: [], layout: layout, size: size, framerate: fps, speakerHold: composite.speakerHold ?? .zero,
        showsNames: composite.showsNames, wait: raw.wait, values: try raw.values(isMixed: true).mix)
      (options.showsPlaceholders, options.scenery) = (composite.showsPlaceholders, composite.scenery.scenery)
      (options.participant, options.participants) = (raw.tracks.only, raw.tracks.participants)
      // What frames are made of has no audio.
      options.kinds = [.video]
      (options.labelTopic, options.hasLabels) = (composite.labelTopic, raw.reply == .label)
      options.burnsCaptions = composite.burnCaptions
      return options
    }
  }

  private var request: FrameMaker.Request {
    .init(
      format: outputFormat, size: size, fps: fps ?? (outputFormat == .y4m || isMixed ? 30 : nil),
      duration: raw.duration, isShared: raw.target.isSharedMemory)
  }
}

extension RawFormat: ExpressibleByArgument {}

/// The transform of `--fps`.
private func evenRate(of text: String) throws -> Int {
  guard let rate = Int(text) else {
    throw ValidationError(
      "give a whole number, 1 to 120; 'record shots/image.jpg --set capture-interval=10' makes an image every 10 s")
  }
  return rate
}

extension RawArguments {
  fileprivate func sink(_ destination: String, _ format: RawFormat) throws(LiveKitError) -> any RawSink {
    guard PathSink.namesFolder(destination) else { return try PathSink(destination, replaces: overwrite) }
    // What has filled its name may have made one of it.
    guard format.isImage else { throw Self.refusal(ofFolder: destination) }
    return try ImageFolder(destination, suffix: format.suffix, replaces: overwrite)
  }

  fileprivate static func refusal(ofFolder folder: String) -> LiveKitError {
    LiveKitError(.invalidParameter, "\(folder) is a folder, which takes images: give --format png or --format jpeg")
  }

  /// Files are to hold all that comes, readers what is new.
  fileprivate var frameLimits: RawLimits {
    var isFile = false
    if case .path(let path) = target { isFile = !PathSink.isPipe(path) }
    return isFile ? .init(bytes: 256_000_000) : .init(age: .milliseconds(500), bytes: 64_000_000)
  }
}
