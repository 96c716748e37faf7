import ArgumentParser
import Egress
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore
import MediaPipelines

/// What `frames` and `pcm` have in common: of whom, for how long, and where it goes.
struct RawArguments: ParsableArguments {
  @OptionGroup var access: RoomArguments
  @OptionGroup var set: AssignmentArguments<OfAll>
  @OptionGroup var tracks: TrackArguments
  @OptionGroup var drawing: DrawingArguments

  @Option(
    help: """
      How much, such as 30s, counted from the first frame or sample on: --wait limits the time before; without it until Ctrl-C
      """, transform: duration(of:))
  var duration: Duration?

  @Option(help: "Longest wait for something to come; without it there is no limit", transform: duration(of:))
  var wait: Duration?

  @Option(
    help: ArgumentHelp(
      """
      Where JSON lines go that tell number, media time, wall clock of capture, RTP timestamp and size of each frame, or number \
      and count of samples, and what happens: a file, or the number of a descriptor, as in --info 3 3>info.jsonl
      """, valueName: "fd|file"))
  var info: String?

  @Flag(help: "Replace a file that holds something already")
  var overwrite = false

  @Flag(help: "Each participant for themselves, those who come later, too; {publisher_identity} names the destinations")
  var each = false

  @Flag(
    help: """
      Put a header of 32 bytes in front of each frame or block of samples, with length, number of the stream, size, format \
      and time, so that several share a pipe
      """)
  var framed = false

  @Option(
    help: ArgumentHelp(
      """
      Run a command in a shell, which gets it on standard input; with --each one for each participant, whose identity is in \
      $MEDIABRIDGE_IDENTITY and, safe in a file's name, in $MEDIABRIDGE_NAME, with --each --framed one for all. One that dies \
      is begun anew, five times in a row at most
      """, valueName: "command"))
  var exec: String?

  @Option(
    help: ArgumentHelp(
      """
      data: send into the room what the command of --exec prints, as messages: a JSON object on each line, of which text is the \
      message (without it the object is), topic says whom it concerns and to, a list of identities, who gets it. label, of \
      'frames --composite': show its text on the mixed room, with participant on the tiles of one alone, with duration for so \
      many seconds
      """, valueName: "data|label"))
  var reply: ReplyKind?

  @Argument(
    help: """
      A file, a named pipe, - for standard output, unix:PATH for a Unix socket whose readers get what comes from then on, or \
      of frames shm:PATH for shared memory, which GStreamer's shmsrc reads at that socket with the caps in PATH.caps, or of \
      audio ws://… or wss://… for a WebSocket server. The names take {room_name}, {room_id}, {time} and {utc}, those of one \
      participant also {publisher_identity}, {track_id}, {track_type} and {track_source}
      """)
  var destination = "-"

  func validate() throws {
    if let duration, duration <= .zero {
      throw ValidationError("--duration: nothing comes in no time; leave it out to go on until Ctrl-C")
    }
    try validateTracks()
    if exec != nil, destination != "-" { throw ValidationError("--exec and \(shown) exclude each other") }
    if let info, mixesInfo { throw ValidationError("--info \(info): the media goes there; give another file") }
    if reply != nil, exec == nil {
      throw ValidationError("--reply is for what a command prints: give --exec COMMAND, too")
    }
    if each { try validateHasAll("--each") }
    if each, !framed, !target.hasOneForEach(isFramed: false) {
      throw ValidationError(
        "--each: \(shown) would be written by all: put {publisher_identity} into its name, or give --framed or --exec"
      )
    }
    try validateDestination()
  }

  private func validateTracks() throws {
    try access.check(participants: tracks.participant)
    guard !tracks.track.isEmpty else { return }
    if !tracks.participant.isEmpty {
      throw ValidationError("--participant and --track exclude each other: a track belongs to one participant")
    }
    if !tracks.source.isEmpty {
      throw ValidationError("--source and --track exclude each other: a track has one source")
    }
    if !tracks.trackName.isEmpty {
      throw ValidationError("--track-name and --track exclude each other: a track is named already")
    }
  }

  /// Whether lines of `--info` would stand between the media.
  private var mixesInfo: Bool {
    guard let info, Int32(info) == nil, !info.hasPrefix("/dev/"), case .path(let path) = target else { return false }
    return info.standardPath == path.standardPath
  }

  private func validateDestination() throws {
    if destination.isEmpty { throw ValidationError("the destination is empty; give a file, or - for standard output") }
    if exec?.allSatisfy(\.isWhitespace) == true { throw ValidationError("--exec is empty; give a command") }
    do throws(LiveKitError) { try validateSocket() } catch { throw ValidationError(error.message) }
    guard destination.contains("://") else { return }
    guard target.isWebSocket else {
      throw ValidationError(
        "\(shown): no file, and audio goes to ws://… or wss://… alone; 'mediabridge stream' is for live servers")
    }
    if destination.hasSuffix("://") {
      throw ValidationError("\(shown): the address has no server; write ws://server/path")
    }
    if let mistake = WebSocketSink.mistake(in: destination) { throw ValidationError(mistake) }
  }

  /// Of a path with placeholders nobody knows yet how long it is.
  private func validateSocket() throws(LiveKitError) {
    switch target {
    case .socket(let path) where !path.contains("{"): try UnixListener.check(path, scheme: "unix")
    case .sharedMemory(let path) where !path.contains("{"): try UnixListener.check(path, scheme: "shm")
    default: break
    }
  }

  func validateHasAll(_ option: String) throws {
    if !tracks.track.isEmpty { throw ValidationError("\(option) has the tracks of all: leave out --track") }
  }

  /// Where nothing is mixed.
  /// - Parameter both: how to have two who are named.
  func validateOne(both: String) throws { if !each { try tracks.checkOne(both: both) } }

  /// - Parameter isMixed: whether the room is mixed into one.
  func validateSource(_ kind: Track.Kind, _ command: String, isMixed: Bool = false) throws {
    _ = try values(isMixed: isMixed)
    if reply == .label, !isMixed {
      throw ValidationError("--reply label is for a mixed room: 'frames --composite LAYOUT' shows it")
    }
    if let other = tracks.source.first(where: { $0.kind != kind }) {
      throw ValidationError("--source \(other.optionName): '\(command)' takes \(kind) alone")
    }
  }

  func receiveValues() throws -> [String: String] { try values().receive }

  /// For the templates that receive, and those that mix.
  func values(isMixed: Bool = false) throws -> (receive: [String: String], mix: [String: String]) {
    let templates = try SetArguments.receiveTemplates(folder: access.pipelines)
    let values = try set.values(
      for: [isMixed ? RoomComposite.templates : [], templates], folder: access.pipelines)
    return (values[1], values[0])
  }

  func choice(_ kind: Track.Kind) -> RawChoice {
    RawChoice(
      kind: kind, participants: tracks.participant, sids: Set(tracks.track), sources: Set(tracks.source),
      names: tracks.trackName)
  }

  /// Whether one participant is named.
  var isOfOne: Bool { tracks.only != nil }
  /// Whether a stream is complete when its participant leaves: a command that is for all goes on.
  var endsWithParticipant: Bool { each && exec != nil && !framed }
  var target: RawTarget { RawTarget(destination: destination, command: exec) }
  /// For people, without what may be a secret.
  var shown: String { RawTarget.shown(destination) }
  var usesStandardOutput: Bool { if case .standardOutput = target { true } else { false } }

  func infoLog(_ media: Int32?, _ console: Console) throws(LiveKitError) -> InfoLog? {
    guard let info else { return nil }
    guard let number = Int32(info) else { return InfoLog(try PathSink(info, replaces: overwrite), console) }
    let name = "descriptor \(number) of --info"
    guard fcntl(number, F_GETFD) >= 0, number != media else {
      throw LiveKitError(.invalidParameter, "\(name) is not open; open it, as in --info \(number) \(number)>info.jsonl")
    }
    guard number != STDOUT_FILENO || media == nil else {
      throw LiveKitError(.invalidParameter, "\(name): standard output carries the media; give another one")
    }
    // Closed when the log ends, while others may go on to write there, such as errors.
    let own = fcntl(number, F_DUPFD_CLOEXEC, 10)
    guard own >= 0 else { throw RawDescriptor.failure(name) }
    return InfoLog(DescriptorSink(own, name: name), console)
  }

  /// Runs a command, and says what goes wrong.
  /// - Parameter body: gets standard output where that carries the media.
  func run(_ body: (Console, Int32?) async throws -> Void) async throws {
    let media: Int32?
    do { media = usesStandardOutput ? try StandardOutput.claim() : nil } catch {
      Console(isJSON: access.json).fail(error)
      throw ExitCode.failure
    }
    let console = access.console()
    do {
      try drawing.begin()
      try await body(console, media)
      try Drawings.check()
    } catch {
      console.fail(error)
      throw ExitCode.failure
    }
  }

  /// Sends what commands print; nil where nobody asked for that.
  func replies(to room: Room, _ console: Console) -> Replies? { reply.map { Replies($0, to: room, console) } }

  /// Of a room that nobody else is in.
  func visit(_ room: Room, _ console: Console) async throws -> RoomVisit {
    let (url, options) = (try access.serverURL(), access.connectOptions)
    let token = try access.accessToken(sendsMessages: reply == .data)
    let interruption = Interruption()
    return RoomVisit(interruption: interruption) { abandon in
      try await console.join(url, interruption, abandon: abandon) {
        try await room.connectToReceive(url: url, token: token, connectOptions: options)
      }
    } leave: {
      await room.disconnect()
    }
  }
}

/// What becomes of what a command prints.
enum ReplyKind: String, ExpressibleByArgument, CaseIterable {
  /// Messages in the room.
  case data
  /// Shown on the mixed room.
  case label
}
