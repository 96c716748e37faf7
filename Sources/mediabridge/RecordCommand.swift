import ArgumentParser
import Egress
import Foundation
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates

/// `record` and `stream`: what they are told, and the recording that comes of it.
///
/// Both have their options themselves: in a debug build ArgumentParser checks what a group holds four times as often as
/// what holds the group, which took a second of each start.
struct RecordingCommand<Purpose: RecordingPurpose>: AsyncParsableCommand {
  static var configuration: CommandConfiguration { Purpose.configuration }

  @OptionGroup var access: RoomArguments
  @OptionGroup var set: SetArguments

  @OptionGroup var composite: CompositeArguments
  @OptionGroup var mixedAudio: MixedAudioArguments
  @OptionGroup var files: FileArguments
  @OptionGroup var encoding: EncodingArguments

  @OptionGroup var tracks: TrackArguments

  @Option(
    help: ArgumentHelp(
      """
      Record each participant, or each track, into a file of its own, or stream it to an address of its own, also \
      those that come later; {publisher_identity} or {track_id} in the name keeps them apart, as in \
      {publisher_identity}.mp4
      """, valueName: "participant|track"), transform: unit(named:))
  var each: RecorderGroup.Unit?

  @Flag(help: "Leave the video out") var audioOnly = false
  @Flag(help: "Leave the audio out") var videoOnly = false

  @Option(
    help: """
      How long to record, such as 30s, 5m or 1h30m, counted from the first frame or sample on: --wait limits the time \
      before; without it until Ctrl-C
      """, transform: duration(of:))
  var duration: Duration?

  @Flag(help: "End when the participant has left the room") var untilLeft = false
  @Flag(help: "End when nobody who may publish is left in the room but agents and recorders") var untilEmpty = false

  @Option(
    help: """
      How long the room has to be empty before --until-empty ends the recording, the participant gone for \
      --until-left, or the track gone for --track; 2s by default
      """,
    transform: duration(of:))
  var emptyTimeout: Duration?

  @Option(
    help: "Longest wait for the participant and its media; without it there is no limit", transform: duration(of:))
  var wait: Duration?

  @Option(
    help: "How long a live server that has gone away is tried again before it counts as failed; 30s by default",
    transform: duration(of:))
  var reconnectFor: Duration?

  @Flag(help: "Replace files that hold something already")
  var overwrite = false

  @Option(
    help: ArgumentHelp(
      "Name of the output template that writes the only destination, the same as NAME= in front of it",
      valueName: "name"))
  var output: String?

  @Option(
    help: ArgumentHelp(
      "Encode with this template, such as h264 or opus, also what could stay as sent; again for audio beside video",
      valueName: "name"))
  var encode: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      Take commands while it runs, as JSON objects on lines of standard input, which is '-': {"command": "add", \
      "location": "b.mkv", "values": {"bitrate": 500}}, "remove" with a "location", "layout" with a "layout", "label" with a \
      "text" and, if wanted, "participant" and "duration" in seconds, "pause", "resume", "end". Each \
      is answered by the event "control", with its "id" if it has one
      """, valueName: "-"), transform: standardInput(named:))
  var control: String?

  @OptionGroup var drawing: DrawingArguments

  @Flag(help: "Say what each destination would get, as sent or encoded, for each codec, and why; record nothing")
  var dryRun = false

  @Argument(
    help: """
      Such as a.mp4, a.mkv, rtmp://host/app/key, window= for a window that shows what is recorded, or NAME=LOCATION for the output template NAME; any number of them. A file's \
      name, and an address behind its server, takes {room_name}, {room_id}, {time}, {utc} and {publisher_identity}; that of one track also {track_id}, \
      {track_type} and {track_source}
      """,
    completion: .file(extensions: ["mp4", "mkv", "webm"]))
  var destination: [String]

  func validate() throws {
    // What is only shown joins no room.
    if !dryRun { try access.checkAccess() }
    if let exclusion = exclusions.first { throw ValidationError(exclusion) }
    try checkUse()
    try Purpose.check(destination)
    // What the library refuses is told by `run`: with its code, by which it is known whether the machine lacks something.
    if !set.pairs.isEmpty { do { _ = try prepared() } catch is LiveKitError {} }
  }

  var isComposite: Bool { composite.layout != nil }
  var isOfOne: Bool { composite.layout == .participant }

  /// What is asked for, with the templates that are read for it and what is set for those that receive.
  struct Prepared {
    var options: RecordingOptions
    var templates: [OutputTemplates]
    var receiveValues: [String: String] = [:]
  }

  func prepared() throws -> Prepared {
    let templates = try options.destinations.map {
      try OutputTemplates(of: $0, encode: encode, folder: access.pipelines)
    }
    var prepared = Prepared(options: options, templates: templates)
    guard !set.pairs.isEmpty else { return prepared }
    let own = try set.own(targets)
    let names =
      try zip(templates, own).flatMap { try $0.names(with: $1) }
      + (isComposite ? RoomComposite.templates : [])
    let values = try set.values(
      for: [names, try SetArguments.receiveTemplates(folder: access.pipelines)], folder: access.pipelines,
      besides: targets)
    (prepared.options.values, prepared.receiveValues) = (values[0], values[1])
    for (index, values) in own.enumerated() { prepared.options.destinations[index].values = values }
    return prepared
  }

  func run() async throws {
    let console = access.console()
    do {
      try await run(console)
      try Drawings.check()
    } catch {
      console.fail(error)
      throw ExitCode.failure
    }
  }

  private func run(_ console: Console) async throws {
    let prepared = try prepared()
    if dryRun { return try tellFeeds(prepared, console) }
    try drawing.begin()
    // Whoever records subscribes to what is needed: a room may have many more.
    let room = Room(
      roomOptions: access.roomOptions(
        autoSubscribe: false, adaptiveStream: isComposite, receiveValues: prepared.receiveValues))
    let source = job(in: room, prepared)
    tellIdleOptions(console)
    tellIdleReconnection(console)
    do {
      // Nobody is to be shown as recorded while files are taken somewhere else.
      try await recording(source, room, prepared.options, console, control: controlForm) { await room.disconnect() }
        .run(url: try access.serverURL(), token: try access.accessToken())
    } catch {
      _ = try? await source.finish()
      throw error
    }
  }

  /// What is recorded, of a room that may be connected later.
  func job(in room: Room, _ prepared: Prepared) -> any EgressJob {
    if let layout = composite.layout {
      return RoomComposite(room: room, options: mix(layout, prepared))
    }
    if let each { return RecorderGroup(room: room, each: each, options: prepared.options) }
    return Recorder(room: room, options: prepared.options, templates: prepared.templates)
  }

  /// How the room is mixed.
  private func mix(_ layout: CompositeLayout, _ prepared: Prepared) -> CompositeOptions {
    var options = composite.options(layout, prepared.options)
    mixedAudio.apply(to: &options)
    return options
  }

  /// What was given and changes nothing.
  func tellIdleOptions(_ console: Console) {
    if !isComposite, let preset = encoding.preset {
      console.say("Without effect: the preset's \(preset.framerate) frames a second; they come as they are sent.")
      console.event("without_effect", ["variables": ["fps"]])
    }
    guard !targets.contains(where: \.isFile) else { return }
    for option in optionsOfFiles { tell(idle: option, for: "files", console) }
  }

  /// Not of a job of `run`, whose file may bring a live server later, nor where one may be added.
  private func tellIdleReconnection(_ console: Console) {
    guard reconnectFor != nil, controlForm == nil, !targets.contains(where: \.isLive) else { return }
    tell(idle: "reconnect-for", for: "live servers", console)
  }

  private func tell(idle option: String, for places: String, _ console: Console) {
    console.say("Without effect: --\(option), which is for \(places); no destination is one.")
    console.event("without_effect", ["variables": [option]])
  }

  /// Checks what can be before the room is joined, and takes the files.
  /// - Parameter onClose: called when nothing more is written.
  func recording(
    _ source: any EgressJob, _ room: Room, _ options: RecordingOptions, _ console: Console,
    control: ControlRequest.Form? = nil, interruption: Interruption = Interruption(),
    onClose: @escaping @Sendable () async -> Void = {}
  ) async throws -> Recording {
    try await source.prepare()
    var options = options
    options.kinds = await source.kinds
    return Recording(
      console: console, room: room, source: source, options: options, maxSize: files.maxSize,
      connectOptions: access.connectOptions, control: control, writesManifest: files.manifest,
      completion: files.completion(telling: console), interruption: interruption, onClose: onClose)
  }

  /// What each destination is fed.
  /// - Throws: what is wrong with it that can be known without a room.
  func feeds(_ prepared: Prepared) throws -> [OutputFeeds] {
    let folder = access.pipelines
    if let layout = composite.layout {
      return try OutputFeeds.of(mix(layout, prepared), folder: folder)
    }
    guard let each else { return try OutputFeeds.of(prepared.options, prepared.templates, folder: folder) }
    try RecorderGroup.check(prepared.options, each: each)
    return try OutputFeeds.of(
      RecorderGroup.memberOptions(prepared.options, each: each), prepared.templates, folder: folder)
  }

  private func tellFeeds(_ prepared: Prepared, _ console: Console) throws {
    let all = try feeds(prepared)
    for feeds in all {
      if targets.count > 1 { console.say("\(feeds.location):") }
      for line in feeds.lines { console.say(line) }
      console.event("feeds", ["file": feeds.location, "feeds": feeds.lines])
    }
    Terminal.shared.drain()
  }

  /// Who reads a terminal does so in lines of words.
  private var controlForm: ControlRequest.Form? {
    control != nil ? .json : isatty(STDIN_FILENO) == 1 ? .words : nil
  }

  var targets: [Destination] {
    destination.map { argument in
      var target = Destination(argument: argument)
      target.output = target.output ?? output
      return target
    }
  }

  private var kinds: Set<Track.Kind> { audioOnly ? [.audio] : videoOnly ? [.video] : [.video, .audio] }

  /// A track that ends never comes back: under another SID it is another one.
  private var ending: RecordingOptions.Ending? {
    if untilLeft { return .participantLeft }
    if untilEmpty { return .roomEmpty }
    return tracks.track.isEmpty ? nil : .tracksEnded
  }

  private var options: RecordingOptions {
    var options = RecordingOptions(
      destinations: targets.map { OutputDestination($0) }, encode: encode, encoding: encoding.options,
      participant: each == nil ? tracks.only : nil, trackSids: tracks.track, sources: tracks.source, kinds: kinds,
      ending: ending, wait: wait,
      reconnectFor: reconnectFor ?? RecordingOptions.usualReconnection)
    // Of each who fits there is one, also where that is one alone.
    options.participantPatterns = each == nil ? tracks.participants : tracks.participant
    options.trackNames = tracks.trackName
    // Yesterday's recording is not lost to a command that is repeated.
    options.replacesFiles = overwrite
    (options.parts, options.duration, options.captions) = (files.parts, duration, files.captions)
    options.emptyTimeout = emptyTimeout ?? RecordingOptions.usualEmptyTimeout
    return options
  }
}

/// The transform of `--each`.
func unit(named name: String) throws -> RecorderGroup.Unit {
  guard let unit = RecorderGroup.Unit(rawValue: name) else { throw ValidationError("give participant or track") }
  return unit
}

/// The transform of `--control`.
private func standardInput(named name: String) throws -> String {
  guard name == "-" else { throw ValidationError("give -, which is standard input") }
  return name
}
