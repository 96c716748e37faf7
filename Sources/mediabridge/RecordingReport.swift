import Egress
import Foundation
import MediaBridge
import MediaCore
import PipelineTemplates

/// What is told of a recording, to people and to machines.
struct RecordingReport: Sendable {
  let console: Console
  let options: RecordingOptions
  /// Those that came while it ran, too.
  let destinations: Locked<[Destination]>
  let files: CompletedFiles
  /// Whether there are as many destinations as somebody comes.
  let isGroup: Bool
  /// How each was when it was told last.
  private let told = Locked([String: Told]())

  struct Told: Sendable {
    let state: DestinationStatus.State
    let missing: MediaLoss?
    let incompleteParts: Int

    init(_ status: DestinationStatus) {
      (state, missing, incompleteParts) = (status.state, status.missing, status.incompleteParts.count)
    }
  }

  init(
    console: Console, options: RecordingOptions, destinations: Locked<[Destination]>, files: CompletedFiles,
    isGroup: Bool
  ) {
    (self.console, self.options, self.destinations) = (console, options, destinations)
    (self.files, self.isGroup) = (files, isGroup)
  }

  func tell(_ event: EgressEvent) {
    switch event {
    case .waiting(let missing): console.tell(waitingFor: missing)
    case .started(let participant, let tracks): tell(participant, tracks)
    case .destinationChanged(let status): tell(status)
    case .trackChanged(let track):
      console.say("Also recording \(describe(track))")
      console.event("track", fields(track))
    case .codecChanged(let change):
      console.say("\(describe(change)).")
      console.event("codec_changed", fields(change))
    case .sizeChanged(let location, let moment):
      console.say(
        "\(location): the video goes on in another size within it, as it is sent. Some players, such as "
          + "QuickTime and Safari, may stop there; --encode h264 makes one size of it.")
      console.event("size_changed", ["file": location, "duration": Format.seconds(moment)])
    case .reloaded(let reload):
      console.say("\(describe(reload)).")
      console.event("reloaded", fields(reload))
    case .reloadRefused(let error, let locations):
      console.say("\(error.message): not taken over, \(locations.joined(separator: ", ")) goes on as before.")
      console.event(
        "reload_refused", ["message": error.message, "code": error.code.rawValue, "destinations": locations])
    case .encodedAnew(let template, let variables):
      console.say(
        "What is sent is encoded: of the templates for this file only \(template) has \(variables.joined(separator: ", "))"
      )
      console.event("encoded_anew", ["template": template, "variables": variables])
    case .withoutEffect(let variables):
      console.say(
        "Without effect: \(variables.joined(separator: ", ")); nothing that this changes is done to what is recorded, "
          + "which is stored as it is sent")
      console.event("without_effect", ["variables": variables])
    case .omitted(let omission):
      if isMissed(omission) { console.say("Not recorded: \(omission)") }
      console.event("not_recorded", fields(omission))
    case .participantLeft(let identity):
      console.say("\(identity) left. \(afterwards(identity))")
      console.event("participant_left", ["participant": identity])
    case .participantReturned(let identity):
      console.say("\(identity) is back.")
      console.event("participant_returned", ["participant": identity])
    case .tooSlow(let moment):
      console.say(
        "The machine is too slow: frames are dropped, evenly, and audio is not. Fewer participants, a smaller --size or --fps, "
          + "or a quicker encode template need less.")
      console.event("too_slow", ["duration": Format.seconds(moment)])
    case .paused(let moment):
      console.say("Paused: what is now is not recorded.")
      console.event("paused", ["duration": Format.seconds(moment)])
    case .resumed(let moment):
      console.say("The recording goes on.")
      console.event("resumed", ["duration": Format.seconds(moment)])
    case .layoutChanged, .layoutRefused, .labelChanged, .labelRefused: console.tell(composite: event)
    // Whoever ends it says more.
    case .over, .ended: break
    }
  }

  /// Nobody misses video in what was to be audio alone, nor audio in images: only machines are told.
  private func isMissed(_ omission: Omission) -> Bool {
    omission.wasWanted || omission.kind == .none || options.kinds.contains(omission.kind)
  }

  /// How each of several destinations stores what is sent, it says itself.
  private func tell(_ participant: String?, _ tracks: [OutputTrack]) {
    let list = tracks.map { track in
      isOne ? describe(track) : participant == nil ? "\(name(track)) (mixed)" : name(track)
    }
    .joined(separator: ", ")
    console.say("\(isLive ? "Streaming" : "Recording") \(participant ?? "the room"): \(list)")
    var fields: [String: Any] = ["tracks": tracks.map(self.fields)]
    fields["participant"] = participant
    console.event("recording", fields)
  }

  private var isLive: Bool { destinations.withLock { $0.allSatisfy(\.isLive) } }

  /// What becomes of the recording without its participant.
  private func afterwards(_ identity: String) -> String {
    let place = isLive ? "stream" : "file"
    if isGroup { return "What is written of them ends unless \(identity) is back at once." }
    switch options.ending {
    case .participantLeft: return "The recording ends unless \(identity) is back at once."
    case .tracksEnded: return "The recording ends with the track: whoever comes back publishes others."
    default: break
    }
    let kinds = options.sources.isEmpty ? options.kinds : Set(options.sources.map(\.kind))
    let what = [("black", Track.Kind.video), ("silence", .audio)].filter { kinds.contains($0.1) }.map(\.0)
      .joined(separator: " and ")
    let end =
      options.duration.map { "ends after \(Format.duration($0)), as asked" }
      ?? (options.ending == .roomEmpty
        ? "ends when nobody is left who may publish" : "ends with Ctrl-C, or when the server closes the room")
    let alternative = options.ending == nil ? "; --until-left would have ended it here" : ""
    let since = options.trackSids.isEmpty ? "Until \(identity) is back" : "From now on"
    return "\(since) the \(place) gets \(what); it \(end)\(alternative)."
  }

  /// What nobody did on purpose at that moment is told.
  func ends(with end: Recording.End) {
    switch end {
    case .asked(.participantLeft): console.say("The participant has left: the recording ends.")
    case .asked(.tracksEnded): console.say("The track is published no more: the recording ends.")
    case .asked(.roomEmpty): console.say("Nobody is left in the room whom to wait for: the recording ends.")
    case .closed: console.say("The server has closed the room: the recording ends.")
    case .size: console.say("As much is written as was asked for: the recording ends.")
    case .asked(.durationReached), .interrupted, .told, .failed: break
    }
  }

  // MARK: Destinations

  /// A manifest, or what was said, which lies beside a destination.
  func tell(notWritten error: LiveKitError) {
    console.say(error.message)
    console.event("not_written", ["message": error.message, "code": error.code.rawValue])
  }

  var isOne: Bool { !isGroup && destinations.withLock { $0.count } == 1 }

  /// Of the only one nothing is said that the recording's own lines do not say.
  private func tell(_ status: DestinationStatus) {
    files.note(status)
    let before = told.withLock { $0.updateValue(Told(status), forKey: status.location) }
    let isNews = before?.state != status.state
    if isNews, let news = streamNews(of: status) ?? (isOne ? nil : news(of: status)) { console.say(news) }
    for lack in lacks(of: status, besides: before) { console.say(lack) }
    console.event("destination", status.fields.merging(["tracks": status.tracks.map(fields)]) { $1 })
  }

  private func news(of status: DestinationStatus) -> String? {
    switch status.state {
    case .active: "\(status.location): \(shownTracks(of: status).joined(separator: ", "))"
    case .failed where isGroup: "\(status.failure?.message ?? status.location): whatever else is recorded goes on."
    case .failed: "\(status.failure?.message ?? status.location): it has ended, and the others go on."
    case .complete where status.kind == .window: "The window was closed, and the others go on."
    case .complete: "\(status.location) is complete: \(figures(status).joined(separator: ", "))"
    case .starting, .reconnecting, .ending: nil
    }
  }

  /// Of the connection with a live server.
  private func streamNews(of status: DestinationStatus) -> String? {
    switch (status.state, status.stream) {
    case (.reconnecting, let stream?):
      "\(stream.reason?.message ?? "\(status.location) is lost"): it is tried again."
    case (.active, let stream?) where stream.losses > 0: "\(status.location) is back."
    default: nil
    }
  }

  /// What has no size of its own goes without.
  private func figures(_ status: DestinationStatus) -> [String] {
    [Format.duration(status.duration)] + (status.isFile ? [Format.bytes(status.bytes)] : [])
  }

  func progress(_ progress: OutputProgress, _ pace: inout Pace) {
    let frames = isGroup ? progress.allFrames : progress.video?.buffers ?? 0
    let fps = pace.rate(of: frames)
    let rates = String(format: "%.1f fps  %.2f %% lost", fps, progress.loss * 100)
    let shown = isOne && progress.destinations.first?.isFile != true ? [] : sizes(progress)
    // What came of those of a group who are over was told; they may be many.
    let listed = isGroup ? progress.destinations.filter { !$0.hasEnded } : progress.destinations
    let pause = progress.isPaused ? ["paused"] : []
    console.live(([Format.duration(progress.duration)] + pause + shown + [rates]).joined(separator: "  "))
    var fields: [String: Any] = [
      "duration": Format.seconds(progress.duration), "frames": frames,
      "fps": (fps * 10).rounded() / 10, "loss": progress.loss, "destinations": listed.map(\.fields),
      "paused": progress.isPaused,
    ]
    if progress.destinations.contains(where: \.isFile) { fields["bytes"] = progress.bytes }
    if isGroup { fields["over"] = progress.destinations.count - listed.count }
    fields["mix"] = progress.mixLosses?.fields
    console.progress(fields)
  }

  private func sizes(_ progress: OutputProgress) -> [String] {
    guard !isGroup else { return ["\(progress.destinations.count) files", Format.bytes(progress.bytes)] }
    return progress.destinations.map { status in
      let size = status.state == .failed ? "failed" : status.isFile ? Format.bytes(status.bytes) : status.state.rawValue
      return isOne ? size : "\(status.location) \(size)"
    }
  }

  /// Tells of each destination that is complete, and of the end.
  /// - Parameters:
  ///   - end: what ended it.
  ///   - hasFailed: whether a failure ended it for all destinations alike, which is told by itself.
  func finished(_ progress: OutputProgress, _ end: String, hasFailed: Bool) {
    // Of a group each has left out something of its own.
    for one in progress.members.isEmpty ? [progress] : progress.members {
      for status in one.destinations where status.state == .complete && status.kind != .window {
        finished(status, one.omissions, end)
      }
    }
    for omission in progress.omissions where isMissed(omission) { console.say("Not in it: \(omission)") }
    for loss in progress.mixLosses?.spoken ?? [] { console.say(loss) }
    guard !hasFailed else { return }
    var fields: [String: Any] = [
      "reason": end, "duration": Format.seconds(progress.duration),
      "destinations": progress.destinations.map(\.fields),
    ]
    fields["mix"] = progress.mixLosses?.fields
    console.event("ended", fields)
  }

  private func finished(_ status: DestinationStatus, _ omissions: [Omission], _ end: String) {
    let loss = status.tracks.loss
    let list = (figures(status) + shownTracks(of: status)).joined(separator: ", ")
    let verb = status.kind == .stream ? "Streamed" : "Recorded"
    console.say(
      "\(verb) \(status.location): \(list), " + String(format: "%.2f %% of packets lost", loss * 100))
    if let captions = status.captions { console.say(describe(captions)) }
    for change in status.codecChanges { console.say(describe(change)) }
    if let stream = status.stream, stream.losses > 0 {
      console.say(
        "The server was lost \(stream.losses == 1 ? "once" : "\(stream.losses) times"); "
          + "the \(Format.duration(stream.away)) meanwhile were not sent.")
    }
    if let missing = status.missing { console.say(describe(untaken: missing)) }
    var fields: [String: Any] = [
      "file": status.location, "duration": Format.seconds(status.duration), "loss": loss,
      "tracks": status.tracks.map(self.fields), "ended": end, "not_recorded": omissions.map(self.fields),
      "codec_changes": status.codecChanges.map(self.fields), "reloads": status.reloads.map(self.fields),
    ]
    if !status.standIns.isEmpty { fields["stand_ins"] = status.standIns.map(\.kind.description) }
    if !status.parts.isEmpty { fields["parts"] = status.parts }
    if !status.segments.isEmpty { fields["segments"] = status.segments }
    if let captions = status.captions { fields["captions"] = captions.fields }
    if status.isFile { fields["bytes"] = status.bytes }
    if let missing = status.missing { fields["missing"] = missing.fields }
    if let stream = status.stream { (fields["losses"], fields["away"]) = (stream.losses, Format.seconds(stream.away)) }
    console.event("finished", fields)
  }

  private func name(_ track: OutputTrack) -> String {
    "\(track.kind)\(form(track.codec, track.dimensions))"
  }

  /// Such as " VP8 640x360".
  private func form(_ codec: String, _ dimensions: Dimensions?) -> String {
    let name = ["H264": "H.264", "H265": "H.265", "OPUS": "Opus"][codec.uppercased()] ?? codec.uppercased()
    // What is mixed has no codec.
    return (name.isEmpty ? "" : " \(name)") + (dimensions.map { " \($0)" } ?? "")
  }

  /// What a destination holds, the video first.
  private func shownTracks(of status: DestinationStatus) -> [String] {
    let (black, silent) = (status.standIns.filter { $0.kind == .video }, status.standIns.filter { $0.kind == .audio })
    // What a server did not take is told by itself.
    let reason = status.missing == nil ? " for want of speed" : ""
    return black.map(standIn) + status.tracks.map { describe($0, droppedFor: reason) } + silent.map(standIn)
  }

  /// As the destination has it, and what that was made of: "video H.264 1280x720 (from VP8 640x360)". What an output
  /// template makes of frames or PCM by itself, as for `.wav`, has no name: "audio (from Opus)".
  private func describe(_ track: OutputTrack, droppedFor reason: String = " for want of speed") -> String {
    let dropped = track.buffersDropped > 0 ? ", \(track.buffersDropped) dropped\(reason)" : ""
    if track.isPassthrough { return "\(name(track)) (as sent\(dropped))" }
    let made = track.encoded.map { form($0.codec, $0.dimensions) }
    guard track.sid.isEmpty else {
      return "\(track.kind)\(made ?? "") (from\(form(track.codec, track.dimensions))\(dropped))"
    }
    return "\(track.kind)\(made ?? form(track.codec, track.dimensions)) (mixed\(dropped))"
  }

  private func standIn(_ track: OutputTrack) -> String {
    let what = track.kind == .video ? "black: no video has come" : "silent: no audio has come"
    return "\(track.kind)\(form(track.encoded?.codec ?? "", track.encoded?.dimensions)) (\(what))"
  }

  private func fields(_ track: OutputTrack) -> [String: Any] {
    var fields: [String: Any] = [
      "sid": track.sid, "kind": track.kind.description, "codec": track.codec, "passthrough": track.isPassthrough,
      "buffers": track.buffers, "dropped": track.buffersDropped, "packets": track.packetsReceived,
      "lost": track.packetsLost,
    ]
    if let size = track.dimensions { fields["size"] = size.description }
    fields["encoded"] = track.encoded?.codec
    fields["encoded_size"] = track.encoded?.dimensions?.description
    return fields
  }

  private func fields(_ omission: Omission) -> [String: Any] {
    [
      "sid": omission.sid, "kind": omission.kind.description, "source": omission.source.description,
      "participant": omission.participant, "reason": omission.reason, "wanted": omission.wasWanted,
    ]
  }
}
