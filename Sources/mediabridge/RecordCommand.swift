import ArgumentParser
import Foundation
import MediaBridge

struct RecordCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Record what a participant sends into a file that plays.",
    discussion: """
      The file's name decides how it is stored. .mkv and .webm keep what was sent; .mp4 keeps H.264, turns other \
      video into H.264 and sound into AAC. The file has pictures and sound from its first moment to its last: where \
      the participant sends nothing it is silent, and holds the last picture or is black. Ctrl-C ends the recording \
      with a complete file.
      """)

  @OptionGroup var access: RoomArguments

  @Option(help: "Identity of the participant; without it the first one that sends something")
  var participant: String?

  @Option(help: "SID of a single track to record")
  var track: String?

  @Flag(help: "Leave the pictures out") var audioOnly = false

  @Option(help: "How long to record, such as 30s, 5m or 1h30m; without it until Ctrl-C", transform: duration(of:))
  var duration: Duration?

  @Option(
    help: "Longest wait for the participant and its media; without it there is no limit", transform: duration(of:))
  var wait: Duration?

  @Flag(help: "Replace the file when it holds something already")
  var overwrite = false

  @Argument(help: "File ending in .mp4, .mkv or .webm", completion: .file(extensions: ["mp4", "mkv", "webm"]))
  var file: String

  func validate() throws {
    if participant != nil && track != nil {
      throw ValidationError("--participant and --track exclude each other: a track belongs to one participant")
    }
  }

  func run() async throws {
    let console = access.console()
    let options = RecordingOptions(
      file: file, participant: participant, trackSid: track,
      kinds: audioOnly ? [.audio] : [.video, .audio], wait: wait)
    let (url, token) = (try access.serverURL(), try await access.accessToken())
    // The recorder subscribes to what it needs: a room may have many more.
    let roomOptions = try access.roomOptions(autoSubscribe: false)
    do {
      try Recorder.check(options, pipelineFolder: access.pipelines)
      if !overwrite { try Self.checkUnused(file) }
      try await Recording(
        console: console, room: Room(roomOptions: roomOptions), options: options, connectOptions: access.connectOptions
      )
      .run(url: url, token: token, duration: duration)
    } catch {
      console.fail(error)
      throw ExitCode.failure
    }
  }
}

extension RecordCommand {
  /// Yesterday's recording is not lost to a command that is repeated.
  private static func checkUnused(_ file: String) throws {
    let path = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    guard attributes?[.type] as? FileAttributeType == .typeRegular, attributes?[.size] as? Int64 != 0 else { return }
    throw LiveKitError(.output, "\(file) exists already; choose another name, or give --overwrite to replace it")
  }
}

/// One recording from join to finished file, with what is told of it.
struct Recording {
  let console: Console
  let room: Room
  let options: RecordingOptions
  var connectOptions = ConnectOptions()

  func run(url: String, token: String, duration: Duration?) async throws {
    let interruption = Interruption()
    try await console.join(url, interruption) {
      try await room.connect(url: url, token: token, connectOptions: connectOptions)
    }
    console.tellLosses(of: room)
    releaseStartupCode()
    let recorder = Recorder(room: room, options: options)
    do {
      try await record(recorder, until: interruption, duration: duration)
    } catch {
      _ = try? await recorder.finish()
      await room.disconnect()
      throw error
    }
    await room.disconnect()
  }

  private func record(_ recorder: Recorder, until interruption: Interruption, duration: Duration?) async throws {
    try await start(recorder, interruption)
    let reason = await follow(recorder, until: interruption, duration: duration)
    let progress = await recorder.progress()
    do { finished(try await recorder.finish()) } catch { throw incomplete(error, progress) }
    if let reason { throw incomplete(reason, progress) }
  }

  private func start(_ recorder: Recorder, _ interruption: Interruption) async throws {
    let console = console
    let starting = Task {
      try await recorder.start { update in Self.tell(update, console) }
    }
    let watcher = Task {
      await interruption.wait(atMost: nil)
      if !Task.isCancelled { starting.cancel() }
    }
    defer { watcher.cancel() }
    do { try await starting.value } catch {
      guard let reason = room.disconnectError else { throw error }
      throw LiveKitError(reason.code, "\(options.file): \(reason.message); nothing was recorded")
    }
  }

  /// Tells how it goes until something ends it; what, when that is a failure.
  private func follow(
    _ recorder: Recorder, until interruption: Interruption, duration: Duration?
  ) async -> LiveKitError? {
    let begun = ContinuousClock.now - (await recorder.elapsed)
    let deadline = duration.map { begun + $0 }
    var pace = Pace()
    while deadline.map({ ContinuousClock.now < $0 }) ?? true {
      if await interruption.came(within: nextPause(deadline)) { break }
      report(await recorder.progress(), &pace)
      if let failure = await recorder.failure { return failure }
      if room.connectionState == .disconnected {
        return room.disconnectError ?? LiveKitError(.disconnected, "the connection to the room was lost")
      }
    }
    return nil
  }

  /// The error with the file it is about and how much that holds.
  private func incomplete(_ error: any Error, _ progress: OutputProgress) -> LiveKitError {
    let known = error as? LiveKitError ?? LiveKitError(.output, "\(error)")
    let about = known.message.contains(options.file) ? known.message : "\(options.file): \(known.message)"
    let kept =
      progress.bytes > 0 ? "the first \(Format.duration(progress.duration)) are in the file" : "nothing was recorded"
    return LiveKitError(known.code, "\(about); \(kept)")
  }

  private func nextPause(_ deadline: ContinuousClock.Instant?) -> Duration {
    let rest = deadline.map { $0 - ContinuousClock.now } ?? .seconds(1)
    return max(.milliseconds(1), min(.seconds(1), rest))
  }

  private static func tell(_ update: Recorder.Update, _ console: Console) {
    switch update {
    case .waiting(let missing):
      console.say("Waiting for \(missing)…")
      console.event("waiting", ["for": missing])
    case .recording(let participant, let tracks):
      let list = tracks.map(describe).joined(separator: ", ")
      console.say("Recording \(participant): \(list)")
      console.event("recording", ["participant": participant, "tracks": tracks.map(fields)])
    case .trackChanged(let track):
      console.say("Also recording \(describe(track))")
      console.event("track", fields(track))
    case .trackRefused(let track, let reason):
      console.say("Not recorded: \(track.kind) \(track.codec.uppercased()) \(track.sid): \(reason)")
      console.event("refused", fields(track).merging(["reason": reason]) { $1 })
    }
  }

  private func report(_ progress: OutputProgress, _ pace: inout Pace) {
    let seconds = Format.seconds(progress.duration)
    let fps = pace.rate(of: progress.video?.buffers ?? 0)
    console.live(
      String(
        format: "%@  %@  %.1f fps  %.2f %% lost", Format.duration(progress.duration), Format.bytes(progress.bytes), fps,
        progress.loss * 100))
    console.event(
      "progress",
      [
        "duration": seconds, "bytes": progress.bytes, "frames": progress.video?.buffers ?? 0,
        "fps": (fps * 10).rounded() / 10, "loss": progress.loss,
      ])
  }

  private func finished(_ progress: OutputProgress) {
    let list = progress.tracks.map(Self.describe).joined(separator: ", ")
    console.say(
      "Recorded \(options.file): \(Format.duration(progress.duration)), \(Format.bytes(progress.bytes)), \(list), "
        + String(format: "%.2f %% of packets lost", progress.loss * 100))
    console.event(
      "finished",
      [
        "file": options.file, "duration": Format.seconds(progress.duration), "size": progress.bytes,
        "loss": progress.loss, "tracks": progress.tracks.map(Self.fields),
      ])
  }

  private static func describe(_ track: OutputTrack) -> String {
    let size = track.dimensions.map { " \($0)" } ?? ""
    let way = track.isPassthrough ? "as sent" : "encoded anew"
    let dropped = track.buffersDropped > 0 ? ", \(track.buffersDropped) given up for want of speed" : ""
    return "\(track.kind) \(track.codec.uppercased())\(size) (\(way)\(dropped))"
  }

  private static func fields(_ track: OutputTrack) -> [String: Any] {
    var fields: [String: Any] = [
      "sid": track.sid, "kind": track.kind.description, "codec": track.codec, "passthrough": track.isPassthrough,
      "buffers": track.buffers, "dropped": track.buffersDropped, "packets": track.packetsReceived,
      "lost": track.packetsLost,
    ]
    if let size = track.dimensions { fields["size"] = size.description }
    return fields
  }
}

/// How fast a count grows, from one look to the next.
private struct Pace {
  private var count = 0
  private var time = ContinuousClock.now

  mutating func rate(of newCount: Int) -> Double {
    let now = ContinuousClock.now
    let seconds = Format.seconds(now - time)
    defer { (count, time) = (newCount, now) }
    return seconds > 0 ? Double(max(0, newCount - count)) / seconds : 0
  }
}
