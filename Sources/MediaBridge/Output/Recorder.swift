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
  /// What the file has of a participant: silence or black where nothing is sent.
  public var kinds: Set<Track.Kind>
  /// The longest wait for the participant and its media; nil waits forever.
  public var wait: Duration?

  public init(
    file: String, participant: String? = nil, trackSid: String? = nil, kinds: Set<Track.Kind> = [.video, .audio],
    wait: Duration? = nil
  ) {
    self.kinds = kinds
    self.file = file
    self.participant = participant
    self.trackSid = trackSid
    self.wait = wait
  }
}

/// Records one participant, or one track, of a connected room into a file. Subscribes to what it needs.
public actor Recorder {
  public enum Update: Sendable {
    /// The participant or its media is not there; the text says what is missing.
    case waiting(String)
    case recording(participant: String, [OutputTrack])
    case trackChanged(OutputTrack)
    /// A track that the file cannot take, and why.
    case trackRefused(OutputTrack, String)
  }

  private let room: Room
  private let options: RecordingOptions
  private let factory: PipelineFactory
  private let subscriptions = HeldSubscriptions()
  private var output: FileOutput?
  private var inputs: [Track.Kind: Input] = [:]
  private var ticker: Task<Void, Never>?
  private var follower: Task<Void, Never>?
  private var onUpdate: @Sendable (Update) -> Void = { _ in }
  private var identity: String?
  /// The inputs that have gone, as they were counted last.
  private var ended: [Track.Kind: OutputTrack] = [:]
  /// What a file that stores pictures as they were sent consists of.
  private var videoCodec: String?
  private let currentVideo = Locked<TrackMedia?>(nil)

  private struct Input {
    let publication: RemoteTrackPublication
    var media: TrackMedia
    var pipeline: ReceivePipeline
    /// Why the pipeline has stopped.
    let failure: Locked<LiveKitError?>
    var track: OutputTrack
  }

  public init(room: Room, options: RecordingOptions) {
    self.room = room
    self.options = options
    factory = PipelineFactory(folder: room.options.pipelineFolder, overrides: room.options.pipelineValues)
  }

  /// Checks what can be checked before a room is joined: the file's name and folder, and the template.
  public static func check(_ options: RecordingOptions, pipelineFolder: String? = nil) throws(LiveKitError) {
    let format = try OutputFormat(file: options.file, pictures: .any)
    try FileOutput.checkWritable(options.file)
    _ = try PipelineFactory(folder: pipelineFolder).fill(.output, format.template, values: ["location": options.file])
  }

  /// Waits for the participant and its media, and starts to write. Returns when the first moment is in the file.
  public func start(onUpdate: @escaping @Sendable (Update) -> Void = { _ in }) async throws(LiveKitError) {
    self.onUpdate = onUpdate
    let deadline = options.wait.map { MediaTime.now + $0 }
    let search = RecordingSearch(
      room: room, options: options, subscriptions: subscriptions, deadline: deadline, onUpdate: onUpdate)
    let found: RecordingSearch.Found
    do { found = try await search.run() } catch {
      await subscriptions.keep(only: [])
      throw error
    }
    let events = room.events
    try open(found)
    follow(events)
    for publication in found.participant.publicationsToRecord {
      await published(publication, by: found.participant)
    }
    takeUp(found.participant)
    keepGoing()
    while output?.isActive != true {
      if let failure = output?.failure { throw failure }
      try await search.pause(missing: "something of \(identity ?? "the participant") that can be shown or heard")
    }
    onUpdate(.recording(participant: found.participant.identity ?? "", inputs.values.map(\.track)))
  }

  /// How far the recording is.
  public func progress() async -> OutputProgress {
    var progress = OutputProgress()
    guard let output else { return progress }
    progress.duration = output.length
    progress.bytes = output.bytes
    for kind in [Track.Kind.video, .audio] {
      await countPackets(of: kind)
      guard var track = inputs[kind]?.track ?? ended[kind] else { continue }
      let counts = output.counts(of: kind)
      track.buffers = counts.buffers
      track.buffersDropped = counts.dropped
      progress.tracks.append(track)
    }
    return progress
  }

  private func countPackets(of kind: Track.Kind) async {
    guard let media = inputs[kind]?.media else { return }
    let rtp = await media.statistics().rtp
    // Another track may have taken its place meanwhile.
    guard inputs[kind]?.media === media else { return }
    inputs[kind]?.track.packetsReceived = rtp.packetsReceived
    inputs[kind]?.track.packetsLost = max(0, rtp.packetsLost - rtp.packetsRecovered)
  }

  /// Time since the file's first moment; zero before it.
  public var elapsed: Duration { output?.origin.map { .now - $0 } ?? .zero }

  /// Why the file can no longer be written; nil while it can.
  public var failure: LiveKitError? { output?.failure }

  /// Completes and closes the file.
  /// - Throws: why it is not complete; what was written before stays.
  public func finish() async throws(LiveKitError) -> OutputProgress {
    for task in [ticker, follower] {
      task?.cancel()
      await task?.value
    }
    for input in inputs.values { await input.media.detach(input.pipeline).value }
    var progress = await progress()
    await subscriptions.keep(only: [])
    try await output?.finish()
    progress.bytes = output?.bytes ?? 0
    return progress
  }

  // MARK: Feeding

  private func open(_ found: RecordingSearch.Found) throws(LiveKitError) {
    let video = found.publications.first { $0.kind == .video }
    let flowing = video.flatMap { found.isFlowing($0) ? $0.media : nil }
    let kinds = found.kinds
    let format = try OutputFormat(file: options.file, pictures: kinds.contains(.video) ? .init(flowing) : .none)
    output = try FileOutput(
      file: options.file, format: format, kinds: kinds, codec: flowing?.codec, size: video?.dimensions,
      factory: factory, onKeyframeNeeded: { [currentVideo] in currentVideo.withLock { $0 }?.requestKeyframe() })
    videoCodec = flowing?.codec
    identity = found.participant.identity
    for publication in found.publications { try attach(publication) }
  }

  private func attach(_ publication: RemoteTrackPublication) throws(LiveKitError) {
    guard let output, let media = publication.media else { return }
    let feed = media.isVideo ? output.format.video : output.format.audio
    let raw: ReceivePipeline.Output = media.isVideo ? .frames : .pcm
    let template = feed == .raw ? media.codec : media.codec + "-passthrough"
    let isVideo = media.isVideo
    let failure = Locked<LiveKitError?>(nil)
    let pipeline = try media.attach(
      template, output: feed == .raw ? raw : .encoded, onFailure: { error in failure.withLock { $0 = error } },
      onBuffer: { buffer in isVideo ? output.writeVideo(buffer) : output.writeAudio(buffer) })
    inputs[publication.kind] = Input(
      publication: publication, media: media, pipeline: pipeline, failure: failure,
      track: describe(publication, media))
    if isVideo { currentVideo.withLock { $0 = media } }
  }

  private func describe(_ publication: RemoteTrackPublication, _ media: TrackMedia) -> OutputTrack {
    let feed = media.isVideo ? output?.format.video : output?.format.audio
    return OutputTrack(
      sid: publication.sid, kind: publication.kind, codec: media.codec, isPassthrough: feed == .encoded,
      dimensions: publication.dimensions)
  }

  /// A track that is published anew, or sound that comes later, goes on in the same file.
  private func follow(_ events: AsyncStream<RoomEvent>) {
    follower = Task { [weak self] in
      for await event in events {
        switch event {
        case .trackPublished(let participant, let publication): await self?.published(publication, by: participant)
        case .trackUnpublished(_, let publication): self?.subscriptions.forget(publication)
        case .trackSubscribed(let participant, let publication, _): await self?.joined(publication, of: participant)
        case .trackUnsubscribed(_, let publication, _): await self?.left(publication)
        default: break
        }
      }
    }
  }

  private func published(_ publication: RemoteTrackPublication, by participant: RemoteParticipant) async {
    guard belongs(publication, of: participant) else { return }
    await subscriptions.add(publication)
  }

  private func belongs(_ publication: RemoteTrackPublication, of participant: RemoteParticipant) -> Bool {
    participant.identity == identity && options.trackSid.map { $0 == publication.sid } ?? true
      && output?.has(publication.kind) == true
  }

  private func joined(_ publication: RemoteTrackPublication, of participant: RemoteParticipant) {
    if belongs(publication, of: participant) { joined(publication) }
  }

  private func joined(_ publication: RemoteTrackPublication) {
    guard inputs[publication.kind] == nil, let output, let media = publication.media else { return }
    let track = describe(publication, media)
    if media.isVideo, output.format.video == .encoded, media.codec != videoCodec {
      let file = URL(fileURLWithPath: options.file).lastPathComponent
      return onUpdate(.trackRefused(track, "\(file) holds \(videoCodec?.uppercased() ?? "no pictures")"))
    }
    do {
      try attach(publication)
      onUpdate(.trackChanged(track))
    } catch {
      onUpdate(.trackRefused(track, error.message))
    }
  }

  private func left(_ publication: RemoteTrackPublication) {
    guard let input = inputs[publication.kind], input.publication === publication, publication.media !== input.media
    else { return }
    remove(input)
    // What was published beside it takes its place.
    if let participant = identity.flatMap({ room.remoteParticipants[$0] }) { takeUp(participant) }
  }

  /// Takes what of a participant belongs into the file and is not in it.
  private func takeUp(_ participant: RemoteParticipant) {
    for publication in participant.publicationsToRecord { joined(publication, of: participant) }
  }

  private func remove(_ input: Input) {
    let kind = input.track.kind
    input.media.detach(input.pipeline)
    inputs[kind] = nil
    ended[kind] = input.track
    if kind == .video { currentVideo.withLock { $0 = nil } }
  }

  /// A track that cannot be shown or heard any more stops only itself.
  private func dropFailures() {
    for input in inputs.values {
      guard let failure = input.failure.withLock({ $0 }) else { continue }
      remove(input)
      onUpdate(.trackRefused(input.track, failure.message))
    }
  }

  /// A track may go on in another session of the room, without having ended.
  private func followMedia() {
    for input in inputs.values {
      guard let media = input.publication.media, media !== input.media else { continue }
      remove(input)
      joined(input.publication)
    }
  }

  private func tick() {
    followMedia()
    dropFailures()
    output?.advance(to: .now)
  }

  private func keepGoing() {
    ticker = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: .milliseconds(200))
        guard let self else { return }
        await self.tick()
      }
    }
  }
}
