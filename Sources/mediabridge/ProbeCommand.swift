import ArgumentParser
import Foundation
import MediaBridge
import MediaPipelines

struct ProbeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "probe", abstract: "Decode what is published, count it and measure it.",
    usage: "mediabridge probe [<options>]",
    discussion: """
      It ends with a line for each track: frames, frames a second and size of video, seconds of audio, and the packets \
      that were lost, or why nothing came. The exit status is 1 when nothing was received.
      """)

  @OptionGroup var access: RoomArguments
  @OptionGroup var set: AssignmentArguments<OfAll>
  @OptionGroup var drawing: DrawingArguments
  @Option(
    help: "Identity of a participant, or a pattern such as speaker-*; again for further ones; without it everyone")
  var participant: [String] = []
  @Option(help: "How long, such as 10s; without it until Ctrl-C", transform: duration(of:)) var duration: Duration?
  @Flag(help: "Leave the audio out") var noAudio = false
  @Option(
    help: ArgumentHelp(
      "Layer of simulcast tracks: low, medium or high; of several, separated by commas, one after the other",
      valueName: "quality"), transform: qualities(of:))
  var quality: [VideoQuality] = []
  @Option(
    help: "How long each of several qualities is asked for, such as 0.5s; 2s by default", transform: duration(of:))
  var each: Duration?
  @Option(
    help: ArgumentHelp("Receive frames for this size, such as 320x180, and not the largest", valueName: "WxH"),
    transform: size(of:))
  var size: Dimensions?
  @Flag(help: .init("Tell how late the frames of Tests/Bench are", visibility: .hidden)) var clockCode = false

  func validate() throws {
    try access.checkAccess()
    try access.check(participants: participant)
    guard size == nil || quality.isEmpty else {
      throw ValidationError("--size chooses the quality: give one of the two")
    }
    guard each == nil || quality.count > 1 else {
      throw ValidationError("--each is for several qualities: give them, too, such as --quality low,high")
    }
    _ = try receiveValues()
  }

  private func receiveValues() throws -> [String: String] {
    let templates = try SetArguments.receiveTemplates(folder: access.pipelines)
    return try set.values(for: [templates], folder: access.pipelines)[0]
  }

  func run() async throws {
    let console = access.console()
    let (url, token) = (try access.serverURL(), try access.accessToken())
    let room = Room(
      roomOptions: access.roomOptions(
        autoSubscribe: false, adaptiveStream: size != nil, receiveValues: try receiveValues()))
    let probe = Probe(participants: participant, withAudio: !noAudio, shownAt: size, readsClock: clockCode)
    let tour = QualityTour(qualities: quality, each: each ?? .seconds(2), console: console)
    room.add(delegate: probe)
    room.add(delegate: tour)
    let (begun, interruption) = (ContinuousClock.now, Interruption())
    console.tellLosses(of: room, withFailures: true)
    do {
      try drawing.begin()
      try await console.join(url, interruption) {
        try await room.connectToReceive(url: url, token: token, connectOptions: access.connectOptions)
      }
      await follow(probe, of: room, interruption, console)
      let failure = await probe.failure(of: room)
      console.finished(await probe.results(), since: begun, clock: clockCode)
      await room.disconnect()
      if let failure { throw failure }
      try Drawings.check()
    } catch {
      console.fail(error)
      throw ExitCode.failure
    }
  }

  /// Tells every second how much there was, until the time is over, the connection is lost, or Ctrl-C.
  private func follow(_ probe: Probe, of room: Room, _ interruption: Interruption, _ console: Console) async {
    let deadline = duration.map { ContinuousClock.now + $0 }
    while deadline.map({ ContinuousClock.now < $0 }) ?? true {
      let rest = deadline.map { $0 - ContinuousClock.now } ?? .seconds(1)
      if await interruption.came(within: min(.seconds(1), rest)) { break }
      console.progress(probe.counts)
      if room.disconnectError != nil { break }
    }
  }
}

extension Console {
  fileprivate func progress(_ counts: [TrackCount]) {
    let newest = counts.newest
    let size = newest?.size?.description ?? ""
    live(counts.frames > 0 ? video(counts, size) : audio(counts) ?? video(counts, size))
    progress([
      "frames": counts.frames, "size": size, "rotation": (newest?.rotation ?? ._0).rawValue,
      "audio_samples": counts.audioSamples,
    ])
  }

  private func video(_ counts: [TrackCount], _ size: String) -> String {
    String(format: "%d frames  %.1f fps  ", counts.frames, counts.map(\.fps).reduce(0, +)) + size
  }

  /// Of the longest track; nil where nothing is heard.
  private func audio(_ counts: [TrackCount]) -> String? {
    counts.map(\.audioSeconds).max().flatMap { $0 > 0 ? String(format: "%.1f s of audio", $0) : nil }
  }

  fileprivate func finished(_ results: [ProbeResult], since begun: ContinuousClock.Instant, clock: Bool) {
    let counts = results.map(\.count)
    let first = counts.compactMap(\.first).min().map { Format.seconds($0 - begun) * 1000 }
    if clock {
      event(
        "clock", ["frames": counts.flatMap(\.clock), "unreadable": counts.map(\.unreadable).reduce(0, +)])
    }
    for result in results { say(result.description) }
    if results.contains(where: \.isVideo) {
      say("\(counts.frames) frames, the first after \(first.map { "\(Int($0)) ms" } ?? "never")")
    }
    event(
      "finished",
      [
        "frames": counts.frames, "first_frame_ms": first ?? -1, "audio_samples": counts.audioSamples,
        "tracks": results.map(\.fields),
      ])
  }
}
