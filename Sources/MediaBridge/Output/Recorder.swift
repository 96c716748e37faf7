import Foundation
import GStreamerKit
import MediaCore

/// What to record, and into what.
public struct RecordingOptions: Sendable {
  /// A name that ends in `.mp4`, `.mkv` or `.webm`.
  public var file: String
  /// The participant's identity; nil takes the first one that sends something.
  public var participant: String?
  /// One track instead of a participant.
  public var trackSid: String?
  /// The longest wait for the participant and its media; nil waits forever.
  public var wait: Duration?

  public init(file: String, participant: String? = nil, trackSid: String? = nil, wait: Duration? = nil) {
    self.file = file
    self.participant = participant
    self.trackSid = trackSid
    self.wait = wait
  }
}

/// Records one participant, or one track, of a connected room into a file.
public actor Recorder {
  public enum Update: Sendable {
    /// The participant or its media is not there; the text says what is missing.
    case waiting(String)
    case recording(participant: String, [OutputTrack])
    case trackChanged(OutputTrack)
  }

  private let room: Room
  private let options: RecordingOptions
  private let factory: PipelineFactory
  private var output: FileOutput?
  private var inputs: [Track.Kind: Input] = [:]
  private var ticker: Task<Void, Never>?
  private var onUpdate: @Sendable (Update) -> Void = { _ in }

  private struct Input {
    var media: TrackMedia
    var pipeline: ReceivePipeline
    var track: OutputTrack
  }

  /// How long pictures and sound of one participant may come apart before one of them is taken as not being there.
  private static let pairing = Duration.seconds(2)

  public init(room: Room, options: RecordingOptions) {
    self.room = room
    self.options = options
    factory = PipelineFactory(folder: room.options.pipelineFolder, overrides: room.options.pipelineValues)
  }

  /// Checks what can be checked before a room is joined: the file's name and folder, and the template.
  public static func check(_ options: RecordingOptions, pipelineFolder: String? = nil) throws(LiveKitError) {
    let format = try OutputFormat(file: options.file, videoCodec: nil)
    try FileOutput.checkWritable(options.file)
    _ = try PipelineFactory(folder: pipelineFolder).fill(.output, format.template, values: ["location": options.file])
  }

  /// Waits for the participant and its media, and starts to write. Returns when the first moment is in the file.
  public func start(onUpdate: @escaping @Sendable (Update) -> Void = { _ in }) async throws(LiveKitError) {
    self.onUpdate = onUpdate
    let deadline = options.wait.map { MediaTime.now + $0 }
    let events = room.events
    let (participant, publications) = try await waitForMedia(until: deadline)
    try open(participant, publications)
    follow(events)
    keepGoing()
    while output?.isActive != true {
      try await pause(until: deadline, missing: "media of \(participant.identity ?? "the participant")")
      if let failure = output?.failure { throw failure }
    }
    onUpdate(.recording(participant: participant.identity ?? "", inputs.values.map(\.track)))
  }

  /// How far the recording is.
  public func progress() async -> OutputProgress {
    var progress = OutputProgress()
    guard let output else { return progress }
    let written = output.written
    progress.duration = written.duration
    progress.bytes = output.bytes
    for kind in [Track.Kind.video, .audio] {
      guard let input = inputs[kind] else { continue }
      let rtp = await input.media.statistics().rtp
      var track = input.track
      track.buffers = kind == .video ? written.video : written.audio
      track.packetsReceived = rtp.packetsReceived
      track.packetsLost = rtp.packetsLost
      progress.tracks.append(track)
    }
    return progress
  }

  /// Why the file can no longer be written; nil while it can.
  public var failure: LiveKitError? { output?.failure }

  /// Completes and closes the file.
  /// - Throws: why it is not complete; what was written before stays.
  public func finish() async throws(LiveKitError) -> OutputProgress {
    ticker?.cancel()
    follower?.cancel()
    for input in inputs.values { await input.media.detach(input.pipeline).value }
    var progress = await progress()
    try await output?.finish()
    progress.bytes = output?.bytes ?? 0
    return progress
  }

  // MARK: Waiting

  private func waitForMedia(
    until deadline: MediaTime?
  ) async throws(LiveKitError) -> (RemoteParticipant, [RemoteTrackPublication]) {
    var told: String?
    var firstSeen: MediaTime?
    while true {
      let missing: String
      if let participant = findParticipant() {
        let wanted = wantedPublications(of: participant)
        let subscribed = wanted.filter { $0.track != nil }
        if !subscribed.isEmpty { firstSeen = firstSeen ?? .now }
        let isComplete = options.trackSid != nil || Set(subscribed.map(\.kind)) == [.audio, .video]
        let isPatient = firstSeen.map { MediaTime.now - $0 < Self.pairing } ?? true
        if !subscribed.isEmpty && (isComplete || !isPatient) { return (participant, subscribed) }
        missing = "\(participant.identity ?? "the participant") to publish"
      } else {
        missing =
          options.participant.map { "participant \($0)" } ?? options.trackSid.map { "track \($0)" } ?? "a participant"
      }
      if firstSeen == nil, told != missing {
        told = missing
        onUpdate(.waiting(missing))
      }
      try await pause(until: deadline, missing: missing)
    }
  }

  private func pause(until deadline: MediaTime?, missing: String) async throws(LiveKitError) {
    if room.connectionState == .disconnected {
      throw LiveKitError(.disconnected, "the room was left while waiting for \(missing)")
    }
    if let deadline, MediaTime.now > deadline {
      throw LiveKitError(.timedOut, "waited in vain for \(missing); check the name, or raise --wait")
    }
    do { try await Task.sleep(for: .milliseconds(10)) } catch {
      throw LiveKitError(.cancelled, "stopped while waiting for \(missing)")
    }
  }

  private func findParticipant() -> RemoteParticipant? {
    let participants = room.remoteParticipants
    if let identity = options.participant { return participants[identity] }
    if let sid = options.trackSid { return participants.values.first { $0.trackPublications[sid] != nil } }
    return participants.values.sorted { $0.sid < $1.sid }.first { !$0.trackPublications.isEmpty }
  }

  /// The tracks that belong into the file: one of a kind, the camera before a shared screen.
  private func wantedPublications(of participant: RemoteParticipant) -> [RemoteTrackPublication] {
    if let sid = options.trackSid { return participant.trackPublications[sid].map { [$0] } ?? [] }
    let order: [Track.Source] = [.camera, .microphone, .screenShareVideo, .screenShareAudio, .unknown]
    let sorted = participant.trackPublications.values.sorted {
      (order.firstIndex(of: $0.source) ?? 9, $0.sid) < (order.firstIndex(of: $1.source) ?? 9, $1.sid)
    }
    return [Track.Kind.video, .audio].compactMap { kind in sorted.first { $0.kind == kind } }
  }

  // MARK: Feeding

  private func open(_ participant: RemoteParticipant, _ publications: [RemoteTrackPublication]) throws(LiveKitError) {
    let video = publications.first { $0.kind == .video }
    let codec = (video?.track as? RemoteVideoTrack)?.media.codec
    let format = try OutputFormat(file: options.file, videoCodec: codec)
    let output = try FileOutput(
      file: options.file, format: format, hasVideo: video != nil, size: video?.dimensions, factory: factory)
    self.output = output
    for publication in publications { try attach(publication) }
  }

  private func attach(_ publication: RemoteTrackPublication) throws(LiveKitError) {
    guard let output, let track = publication.track else { return }
    let media: TrackMedia
    switch track {
    case let track as RemoteVideoTrack: media = track.media
    case let track as RemoteAudioTrack: media = track.media
    default: return
    }
    let feed = media.isVideo ? output.format.video : output.format.audio
    let raw: ReceivePipeline.Output = media.isVideo ? .frames : .pcm
    let template = feed == .raw ? media.codec : media.codec + "-passthrough"
    let isVideo = media.isVideo
    let pipeline = try media.attach(template, output: feed == .raw ? raw : .encoded) { buffer in
      isVideo ? output.writeVideo(buffer) : output.writeAudio(buffer)
    }
    let description = OutputTrack(
      sid: publication.sid, kind: publication.kind, codec: media.codec, isPassthrough: feed == .encoded,
      dimensions: publication.dimensions)
    inputs[publication.kind] = Input(media: media, pipeline: pipeline, track: description)
  }

  /// A track that is published anew, or sound that comes later, goes on in the same file.
  private func follow(_ events: AsyncStream<RoomEvent>) {
    follower = Task { [weak self] in
      for await event in events {
        switch event {
        case .trackSubscribed(let participant, let publication): await self?.joined(publication, of: participant)
        case .trackUnsubscribed(_, let publication): await self?.left(publication)
        default: break
        }
      }
    }
  }
  private var follower: Task<Void, Never>?

  private func joined(_ publication: RemoteTrackPublication, of participant: RemoteParticipant) {
    guard options.trackSid == nil, inputs[publication.kind] == nil, let output, participant === findParticipant()
    else { return }
    let codec = (publication.track as? RemoteVideoTrack)?.media.codec
    // The file has one description of its pictures: another codec cannot go on in it, nor pictures it has no place for.
    if publication.kind == .video {
      guard output.format.video == .raw || codec == videoCodec else { return }
    }
    do { try attach(publication) } catch { return }
    if let track = inputs[publication.kind]?.track { onUpdate(.trackChanged(track)) }
  }
  private var videoCodec: String?

  private func left(_ publication: RemoteTrackPublication) {
    guard let input = inputs[publication.kind], input.track.sid == publication.sid else { return }
    if publication.kind == .video { videoCodec = input.media.codec }
    input.media.detach(input.pipeline)
    inputs[publication.kind] = nil
  }

  private func keepGoing() {
    ticker = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: .milliseconds(200))
        await self?.output?.advance(to: .now)
      }
    }
  }
}
