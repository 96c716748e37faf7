import ArgumentParser
import Foundation
import MediaBridge

struct RecordCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Record what a participant sends into a file that plays.",
    discussion: """
      The file's name decides how it is stored. .mkv and .webm keep what was sent; .mp4 keeps H.264, turns other video
      into H.264 and sound into AAC. Ctrl-C ends the recording with a complete file.
      """)

  @OptionGroup var access: RoomArguments

  @Option(help: "Identity of the participant; without it the first one that sends something")
  var participant: String?

  @Option(help: "SID of a single track to record")
  var track: String?

  @Option(help: "How long to record, such as 30s, 5m or 1h30m; without it until Ctrl-C", transform: duration(of:))
  var duration: Duration?

  @Option(
    help: "Longest wait for the participant and its media; without it there is no limit", transform: duration(of:))
  var wait: Duration?

  @Argument(help: "File ending in .mp4, .mkv or .webm")
  var file: String

  func validate() throws {
    if participant != nil && track != nil {
      throw ValidationError("--participant and --track exclude each other: a track belongs to one participant")
    }
  }

  func run() async throws {
    let console = Console(isJSON: access.json)
    let options = RecordingOptions(file: file, participant: participant, trackSid: track, wait: wait)
    let (url, token) = (try access.serverURL(), try await access.accessToken())
    let roomOptions = try access.roomOptions()
    do {
      try Recorder.check(options, pipelineFolder: access.pipelines)
      try await Recording(console: console, room: Room(roomOptions: roomOptions), options: options)
        .run(url: url, token: token, duration: duration)
    } catch {
      console.fail(error)
      throw ExitCode.failure
    }
  }
}

/// One recording from join to finished file, with what is told of it.
struct Recording {
  let console: Console
  let room: Room
  let options: RecordingOptions

  func run(url: String, token: String, duration: Duration?) async throws {
    let interruption = Interruption()
    try await room.connect(url: url, token: token)
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
    let console = console
    let starting = Task {
      try await recorder.start { update in Self.tell(update, console) }
    }
    let watcher = Task {
      await interruption.wait(atMost: nil)
      if !Task.isCancelled { starting.cancel() }
    }
    defer { watcher.cancel() }
    try await starting.value
    let begun = ContinuousClock.now
    var reason: LiveKitError?
    let deadline = duration.map { begun + $0 }
    while deadline.map({ ContinuousClock.now < $0 }) ?? true {
      if await interruption.came(within: nextPause(deadline)) { break }
      report(await recorder.progress())
      reason = await recorder.failure
      if reason == nil && room.connectionState == .disconnected {
        reason = LiveKitError(.disconnected, "the connection to the room was lost; the file is complete up to here")
      }
      if reason != nil { break }
    }
    finished(try await recorder.finish())
    if let reason { throw reason }
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
    }
  }

  private func report(_ progress: OutputProgress) {
    let seconds = Format.seconds(progress.duration)
    let fps = seconds > 0 ? Double(progress.video?.buffers ?? 0) / seconds : 0
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
    return "\(track.kind) \(track.codec.uppercased())\(size) (\(way))"
  }

  private static func fields(_ track: OutputTrack) -> [String: Any] {
    var fields: [String: Any] = [
      "sid": track.sid, "kind": track.kind.description, "codec": track.codec, "passthrough": track.isPassthrough,
      "buffers": track.buffers, "packets": track.packetsReceived, "lost": track.packetsLost,
    ]
    if let size = track.dimensions { fields["size"] = size.description }
    return fields
  }
}
