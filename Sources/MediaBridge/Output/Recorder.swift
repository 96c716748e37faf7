import Foundation
import GStreamerKit
import Logging
import MediaCore
import MediaPipelines
import PipelineTemplates

/// Records one participant, or single tracks, of a connected room into a file. Subscribes to what it needs.
public actor Recorder {
  /// What a recording has to say while it runs.
  public enum Update: Sendable {
    /// The participant or its media is not there; the text says what is missing.
    case waiting(String)
    /// The file has begun, with these tracks of that participant.
    case recording(participant: String, [OutputTrack])
    /// A track of the file has come later, or goes on in another form, such as from another publication.
    case trackChanged(OutputTrack)
    /// The video comes in another codec from now on, and is encoded into the one that the file holds.
    case codecChanged(CodecChange)
    /// What could be stored as it is sent is encoded, because only that encode template has these variables.
    case encodedAnew(template: String, variables: [String])
    /// Something of the participant is not in the file from now on.
    case omitted(Omission)
    /// The recorded participant is not in the room any more; the file goes on without it.
    case participantLeft(String)
    /// The recorded participant is back, and in the same file again.
    case participantReturned(String)
  }

  let room: Room
  /// From `prepare` on without the kinds that the output does not take.
  package private(set) var options: RecordingOptions
  let subscriptions = SubscriptionLease()
  private let factory: PipelineFactory
  private let bell = Bell()
  private let logger = Logger(label: "mediabridge.output")
  private(set) var planner: OutputPlanner?
  private var claim: FileClaim?
  private var ticker: Task<Void, Never>?
  private var follower: Task<Void, Never>?
  private(set) var onUpdate: @Sendable (Update) -> Void = { _ in }

  private(set) var output: FileOutput?
  /// Who is recorded; nil before it is known.
  private(set) var identity: String?
  var choice: TrackChoice
  var omissions = OmissionList()
  /// The tracks that the file is made of, subscribed or about to be.
  var taken: [Track.Kind: RemoteTrackPublication] = [:]
  /// What arrives of them.
  var inputs: [Track.Kind: Input] = [:]
  /// The inputs that have gone, as they were counted last.
  var ended: [Track.Kind: OutputTrack] = [:]
  /// What a file that stores frames as they were sent consists of.
  private(set) var videoCodec: String?
  var codecChanges: [CodecChange] = []
  let currentVideo = Locked<TrackMedia?>(nil)

  /// Whether it was told that the recording runs.
  private(set) var isTold = false
  var presence = Presence()
  /// Why the file cannot be what it is to be any more.
  private var loss: LiveKitError?
  private var isFinished = false

  struct Input {
    let publication: RemoteTrackPublication
    var media: TrackMedia
    let consumer: MediaConsumer
    /// Why nothing comes any more.
    let failure: Locked<LiveKitError?>
    var track: OutputTrack
  }

  /// Nothing happens before `prepare()` or `start()`.
  /// - Parameter room: may be connected later, but before `start()`.
  public init(room: Room, options: RecordingOptions) {
    self.room = room
    self.options = options
    choice = TrackChoice(options)
    factory = PipelineFactory(folder: room.options.pipelineFolder, overrides: options.values)
  }

  /// Does what can be done before a room is joined: checks what is asked for, the templates and the folder, and takes
  /// the file, so that no other recording writes into it. `finish()` gives it back; one that was made here and has got
  /// nothing goes. `start` does the same where this was not called.
  /// - Throws: what cannot be, and what to do about it.
  public func prepare() throws(LiveKitError) {
    try options.checkChoice()
    if planner == nil { try plan() }
    try claimFile()
  }

  private func plan() throws(LiveKitError) {
    let planner = try OutputPlanner(options.destination, encode: options.encode, factory: factory)
    try options.checkKinds(planner)
    options.kinds.formIntersection(planner.kinds)
    try options.checkValues(planner, factory)
    choice = TrackChoice(options)
    self.planner = planner
  }

  /// Takes the file, also when it has been removed while nothing was in it. An address is nobody's.
  private func claimFile() throws(LiveKitError) {
    guard options.destination.isFile else { return }
    if let claim, claim.loss == nil { return }
    claim?.release()
    claim = try FileClaim(options.file)
  }

  /// Waits for the participant and its media, and starts to write. Returns when the first moment is in the file.
  public func start(onUpdate: @escaping @Sendable (Update) -> Void = { _ in }) async throws(LiveKitError) {
    self.onUpdate = onUpdate
    try prepare()
    let deadline = options.wait.map { MediaTime.now + $0 }
    var search = RecordingSearch(
      room: room, options: options, subscriptions: subscriptions, deadline: deadline, bell: bell, onUpdate: onUpdate)
    let listener = bell.ring(for: room.events)
    defer { listener.cancel() }
    do {
      let found = try await search.run()
      for omission in search.omissions.all where omission.participant == found.participant.identity {
        _ = omissions.note(omission)
      }
      try await begin(found)
      // What flows gets the time to begin the file, also at the end of the wait.
      search.deadline = deadline.map { max($0, .now + .seconds(5)) }
      try await awaitFirstMoment(search)
      isTold = true
      let tracks = [Track.Kind.video, .audio].compactMap { inputs[$0]?.track }
      onUpdate(.recording(participant: found.participant.identity ?? "", tracks))
    } catch {
      await subscriptions.keep(only: [])
      throw error
    }
  }

  private func begin(_ found: RecordingSearch.Found) async throws(LiveKitError) {
    let events = room.events
    try open(found)
    follow(events)
    for publication in found.publications {
      await take(publication)
      try join(publication)
    }
    await consider(found.participant)
    departed(found.participant)
    keepGoing()
  }

  private func awaitFirstMoment(_ search: RecordingSearch) async throws(LiveKitError) {
    while output?.isActive != true {
      if let failure = output?.failure { throw failure }
      try search.checkWait(for: "something of \(identity ?? "the participant") that can be shown or heard")
      await bell.wait(until: search.deadline)
    }
  }

  private func open(_ found: RecordingSearch.Found) throws(LiveKitError) {
    try claimFile()
    let video = found.publications.first { $0.kind == .video }
    let flowing = video.flatMap { found.isFlowing($0) ? $0.media : nil }
    guard let planner else { return }
    let plan = try planner.plan(
      found.kinds.reduce(into: [:]) { $0[$1] = $1 == .video ? TrackTraits(flowing) : TrackTraits(codec: "opus") })
    tell(plan)
    output = try FileOutput(
      options.destination, plan: plan, codec: flowing?.codec, size: video?.dimensions, factory: factory,
      onKeyframeNeeded: { [currentVideo] in currentVideo.withLock { $0 }?.requestKeyframe() },
      onChange: { [bell] in bell.ring() })
    videoCodec = flowing?.codec
    identity = found.participant.identity
  }

  /// Says what is encoded and why.
  private func tell(_ plan: OutputPlan) {
    for (kind, feed) in plan.feeds.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      logger.debug("what an output is fed", metadata: ["output": "\(plan.template)", "\(kind)": "\(feed)"])
    }
    if let (template, variables) = plan.forced { onUpdate(.encodedAnew(template: "\(template)", variables: variables)) }
  }

  private func follow(_ events: AsyncStream<RoomEvent>) {
    follower = Task { [weak self] in
      for await event in events { await self?.heed(event) }
    }
  }

  // MARK: Going on

  private func keepGoing() {
    ticker = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: .milliseconds(200))
        guard let self else { return }
        await self.tick()
      }
    }
  }

  private func tick() {
    followMedia()
    dropFailures()
    watchPresence()
    output?.advance(to: presence.overSince ?? .now)
    loss = loss ?? claim?.loss
  }

  /// Time since the file's first moment; zero before it.
  public var elapsed: Duration { output?.origin.map { .now - $0 } ?? .zero }

  /// Why the file can no longer be written; nil while it can.
  public var failure: LiveKitError? { output?.failure ?? loss }

  /// What has ended the recording, of `RecordingOptions.ending`; it is for the caller to finish it then.
  public var ending: RecordingOptions.Ending? { presence.isOver ? options.ending : nil }

  // MARK: The end

  /// Completes and closes the file. Called again it only says what the file holds.
  /// - Throws: why it is not complete; what was written before stays.
  public func finish() async throws(LiveKitError) -> OutputProgress {
    guard !isFinished else { return figures }
    isFinished = true
    for task in [ticker, follower] {
      task?.cancel()
      await task?.value
    }
    for input in inputs.values { input.consumer.stop() }
    await countPackets()
    noteWhatNeverCame()
    await subscriptions.keep(only: [])
    defer { claim?.release() }
    guard let output else { return OutputProgress() }
    loss = loss ?? claim?.loss
    try await output.finish(at: presence.isOver ? presence.overSince ?? .now : .now, isThere: loss == nil)
    do { try claim?.checkWritten(by: output.plan.template) } catch {
      loss = error
      throw error
    }
    return figures
  }

  /// How far the recording is; after `finish()`, whatever came of it, what the file holds.
  public func progress() async -> OutputProgress {
    await countPackets()
    return figures
  }

  private var figures: OutputProgress {
    var progress = OutputProgress(omissions: omissions.all, codecChanges: codecChanges)
    guard let output else { return progress }
    if loss == nil { (progress.duration, progress.bytes) = (output.length, claim?.bytes ?? output.bytes) }
    for kind in [Track.Kind.video, .audio] {
      guard var track = inputs[kind]?.track ?? ended[kind] else { continue }
      let counts = output.counts(of: kind)
      track.buffers = counts.buffers
      // What the track lost before the file's queue, and in it.
      track.buffersDropped += (inputs[kind]?.consumer.dropped ?? 0) + counts.dropped
      progress.tracks.append(track)
    }
    return progress
  }

  private func countPackets() async {
    for (kind, input) in inputs {
      let rtp = await input.media.statistics().rtp
      // Another track may have taken its place meanwhile.
      guard inputs[kind]?.media === input.media else { continue }
      inputs[kind]?.track.packetsReceived = rtp.packetsReceived
      inputs[kind]?.track.packetsLost = max(0, rtp.packetsLost - rtp.packetsRecovered)
    }
  }
}

extension TrackTraits {
  /// Of a track that sends something, or of one that is yet to come.
  init(_ media: TrackMedia?) { self.init(codec: media?.codec, mayTurn: media?.mayTurn ?? false) }
}
