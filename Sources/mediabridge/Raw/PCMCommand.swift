import ArgumentParser
import Egress
import Foundation
import MediaBridge
import MediaCore

struct PCMCommand: AsyncParsableCommand, RawCommand {
  static let configuration = CommandConfiguration(
    commandName: "pcm", abstract: "Hand the audio of a participant, or of the whole room, to other programs.",
    usage: "mediabridge pcm [<options>] [<destination>]",
    discussion: """
      The destination is standard output, a named pipe, a file, or a WebSocket server, which gets binary messages with samples \
      and, when a participant is muted or not any more, {"muted":true} or {"muted":false} as text, as LiveKit's track egress \
      sends them; there --channels 2 gives the same samples. Sample N is heard N/rate seconds after the first: where \
      nothing is sent, because of a mute or a loss, there is exact silence.

      A reader that is too slow holds up nobody: what has waited for longer than a minute becomes silence, and is counted. One \
      that closes its end ends the command. What a file lacks because its disk or this machine was too slow is said at the \
      end, as an error.

      Where one participant is taken alone, another one who fits follows once nothing of them is there any more; each \
      time it is said whose audio is taken.

      What the program says goes to standard error while standard output carries audio.
      """)

  @OptionGroup var raw: RawArguments

  @Option(
    help: ArgumentHelp(
      "s16le, f32le or wav, which is s16le with a header; without it wav where the file's name ends in .wav, else s16le",
      valueName: "format"))
  var format: PCMFormat?

  @Option(help: ArgumentHelp("Samples a second; 48000 unless given", valueName: "hz"), transform: sampleRate(of:))
  var rate = 48_000
  @Option(help: "1 to 8: 1 for mono, which is so without it, 2 for stereo", transform: count(of:)) var channels = 1
  @Flag(help: "Everybody's audio, mixed, or of those whom --participant names") var mix = false

  @Option(
    help: "How long a WebSocket server may be away before it counts as failed; 30s by default",
    transform: duration(of:))
  var reconnectFor = RecordingOptions.usualReconnection

  func validate() throws {
    try raw.access.checkAccess()
    try raw.validateSource(.audio, "pcm")
    guard (1...8).contains(channels) else { throw ValidationError("--channels \(channels): give 1 to 8") }
    guard (8000...192_000).contains(rate) else { throw ValidationError("--rate \(rate): give 8000 to 192000") }
    try raw.validateEnding(format)
    if format == .wav, raw.target.isWebSocket {
      throw ValidationError("--format wav: a WebSocket has no place for its header; use s16le or f32le")
    }
    if outputFormat == .wav, raw.framed {
      throw ValidationError("--framed says rate and time itself: use --format s16le")
    }
    if raw.target.isSharedMemory {
      throw ValidationError("\(raw.destination): shared memory is for frames; give unix:PATH for a socket")
    }
    if let folder = raw.folder { throw ValidationError("\(folder) is a folder, which takes images: name a file in it") }
    if mix, raw.each { throw ValidationError("--mix and --each exclude each other: all in one, or each alone") }
    if mix {
      try raw.validateHasAll("--mix")
    } else {
      try raw.validateOne(both: "--each hands on each for themselves, --mix mixes them")
    }
    try raw.validateNames(mix ? .ofAll : .ofOne)
  }

  private var outputFormat: PCMFormat { format ?? PCMFormat.named(raw.ending) ?? .s16le }

  func run() async throws {
    try await raw.run { console, media in
      let room = Room(roomOptions: raw.access.roomOptions(autoSubscribe: false, receiveValues: try raw.receiveValues()))
      try await work(in: room, console, media).run(raw.visit(room, console))
    }
  }

  func work(in room: Room, _ console: Console, _ media: Int32?) throws -> RawWork {
    let info = try raw.infoLog(media, console)
    let request = PCMStream.Request(
      format: outputFormat, rate: rate, channels: channels, duration: raw.duration, isMixed: mix)
    let raw = raw
    let replies = raw.replies(to: room, console)
    let destinations = RawDestinations(
      raw, media, limits: limits, unit: "samples", info: info, replies: replies, reconnectFor: reconnectFor, console
    ) { path throws(LiveKitError) in
      try PathSink(path, replaces: raw.overwrite) { request.header(bytes: $0) }
    }
    let environment = [
      "MEDIABRIDGE_FORMAT": outputFormat.rawValue, "MEDIABRIDGE_RATE": "\(rate)", "MEDIABRIDGE_CHANNELS": "\(channels)",
    ]
    let taken = RawSession.Request(
      choice: raw.choice(.audio), extent: mix ? .all : raw.each ? .each : .one,
      endsWithParticipant: raw.endsWithParticipant,
      waitsForName: try raw.waitsForName)
    let session = RawSession(room: room, taken, console: console, info: info, replies: replies) {
      number, subject throws(LiveKitError) in
      PCMStream(
        request, output: try destinations.receiver(for: subject, in: room, environment: environment),
        isFramed: raw.framed, info: info, number: number)
    }
    return RawWork { try await session.run($0, duration: raw.duration, wait: raw.wait) }
  }

  var product: String {
    let all = NamePatterns(raw.tracks.participant).words ?? "everybody"
    let what = mix ? "the audio of \(all), mixed" : raw.choice(.audio).wish
    return "\(what) as \(outputFormat.rawValue), \(rate) Hz, \(channels) \(channels == 1 ? "channel" : "channels")"
  }

  /// A minute for readers, so that a model that thinks for a while misses nothing.
  private var limits: RawLimits {
    .init(bytes: 60 * rate * channels * outputFormat.width, keepsLength: !raw.framed)
  }
}

extension PCMFormat: ExpressibleByArgument {}

/// The transform of `--rate`.
private func sampleRate(of text: String) throws -> Int {
  guard let rate = Int(text) else { throw ValidationError("give samples a second, 8000 to 192000, such as 16000") }
  return rate
}
