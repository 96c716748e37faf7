import GStreamerKit
import Logging
public import MediaBridge
import MediaCore
package import MediaPipelines
import PipelineTemplates

/// Mixes a connected room into one video and one audio, and writes that. Subscribes to what it needs; of video to what is
/// seen, as large as it is seen, where the room was made with adaptive stream.
public actor RoomComposite: EgressJob {
  let room: Room
  /// From `prepare` on without the kinds that no destination takes.
  package private(set) var options: CompositeOptions
  /// Those that are not mixed, since no destination took them.
  private var idleKinds: Set<Track.Kind> = []
  let mixFactory: PipelineFactory
  let loggers: Loggers
  let subscriptions = SubscriptionLease(.shown)
  let notifier = EgressNotifier()
  let bell = Bell()
  var job = JobState()
  var omissions = OmissionList()
  private let firstLayout: CompositeLayout
  /// Gets the mixed frames where there are no destinations.
  private let onFrame: (@Sendable (VideoFrame) -> Void)?
  let gate = MixGate()
  let mixFailure = Locked<LiveKitError?>(nil)
  var mix: RoomMix?
  var changes: MixChanges?
  var scene: CompositeScene?
  var labels = LabelBoard()
  var labelMessages = LabelMessages()
  private(set) var wanted: [RemoteTrackPublication] = []
  var voices = VoiceTracks()

  /// The templates that mix.
  package static let templates = RoomMix.templates

  /// Nothing happens before `prepare()` or `start()`.
  /// - Parameter room: may be connected later, but before `start()`.
  public init(room: Room, options: CompositeOptions) { self.init(room: room, options: options, onFrame: nil) }

  /// Frames alone, which go to a program and to no destinations. Nothing happens before `prepare()` or `start()`.
  /// - Parameters:
  ///   - options: without destinations.
  ///   - onFrame: called on a media thread with each mixed frame from the first moment on; to return at once.
  package init(
    framesOf room: Room, options: CompositeOptions, onFrame: @escaping @Sendable (VideoFrame) -> Void
  ) {
    var options = options
    (options.destinations, options.kinds) = ([], [.video])
    self.init(room: room, options: options, onFrame: onFrame)
  }

  private init(room: Room, options: CompositeOptions, onFrame: (@Sendable (VideoFrame) -> Void)?) {
    (self.room, self.options, firstLayout, self.onFrame) = (room, options, options.layout, onFrame)
    loggers = Loggers(room.options.logger)
    let templates = PipelineFactory(folder: room.options.pipelineFolder, logger: loggers.pipelines)
    mixFactory = PipelineFactory(
      store: templates.store, overrides: options.values.filter { templates.mixes(with: $0.key) })
  }

  public func prepare() throws(LiveKitError) {
    try options.check()
    try LiveKitError.wrapping { () throws(PipelineFailure) in
      try mixFactory.check(options.kinds.flatMap(RoomMix.templates(of:)))
    }
    guard onFrame == nil else { return try checkLabels() }
    var recording = asked
    try checkTargets(&recording)
    idleKinds.formUnion(options.kinds.subtracting(recording.kinds))
    options.kinds = recording.kinds
    try checkLabels()
  }

  func begin() async throws(LiveKitError) {
    let wait = SourceWait(room: room, deadline: options.wait.map { .now + $0 })
    try open()
    try mix?.start()
    keepGoing()
    try await awaitFirstMoment(wait)
  }

  private func open() throws(LiveKitError) {
    job.targets?.know(room, nil, [])
    try job.targets?.claim()
    // Whoever is there at the first moment has a track from it on.
    try begin(
      with: sent, beginsWithVideo: options.kinds.contains(.video), video: Locked(nil), opensLater: hasVoices)
    guard let media = run?.job.media else { return }
    let relay = MixRelay { [gate, onFrame] buffer, kind in
      guard let time = buffer.pts, gate.passes(kind, at: time) else { return }
      if let onFrame, let frame = VideoFrameBuffer(buffer) {
        media.begin(at: time)
        return onFrame(VideoFrame(buffer: frame, time: time))
      }
      media.write(buffer, kind, isRaw: true)
    }
    changes = MixChanges(relay)
    for kind in options.kinds {
      changes?.texts[kind] = try LiveKitError.wrapping { () throws(PipelineFailure) in try mixTexts(kind) }
    }
    let mix = try makeMix(options.kinds, isFirst: true)
    (self.mix, scene) = (mix, CompositeScene(mix, options))
    // Those that were set before.
    if labels.text(of: nil) != nil { try showLabel(of: nil) }
  }

  /// - Parameter isFirst: whether it goes on at once.
  func makeMix(_ kinds: Set<Track.Kind>, isFirst: Bool = false) throws(LiveKitError) -> RoomMix {
    var options = options
    options.kinds = kinds
    guard let relay = changes?.relay else { throw LiveKitError(.invalidState, "nothing is mixed yet") }
    let turns = kinds.reduce(into: [:]) { $0[$1] = isFirst ? 0 : relay.nextTurn($1) }
    return try RoomMix(
      options, factory: mixFactory, onMedia: { relay.take($0, $1, of: turns[$1] ?? 0) },
      onFailure: { [mixFailure, bell] error, kind in
        guard relay.note(error, kind, of: turns[kind] ?? 0) else { return }
        mixFailure.withLock { $0 = $0 ?? error }
        bell.ring()
      })
  }

  private var sent: SentMedia { SentMedia(mixed: options.kinds, options.size, voices.list.all) }

  private func awaitFirstMoment(_ wait: SourceWait) async throws(LiveKitError) {
    var rule = CompositeStart()
    var told: String?
    try await awaitFirstMoment(wait, pause: .milliseconds(100)) {
      await followRoom()
      let missing = rule.missing(wanted, isSeen: scene?.isSeen == true, isHeard: scene?.isHeard == true, at: .now)
      if missing == nil { beginWriting() }
      if let missing, told != missing { tell(.waiting(missing)) }
      told = missing ?? told
      return (missing, "check the room's name, or ")
    }
  }

  private func beginWriting() {
    do throws(LiveKitError) { try openDestinations(for: sent) } catch {
      mixFailure.withLock { $0 = $0 ?? error }
    }
    gate.open(at: .now)
  }

  // MARK: Going on

  func heed(_ event: RoomEvent) async {
    await heedLabels(event)
    switch event {
    case .trackPublished, .trackUnpublished, .trackSubscribed, .trackUnsubscribed, .muteChanged,
      .activeSpeakersChanged, .participantConnected, .participantDisconnected, .participantNameChanged, .reconnected:
      await followRoom()
    case .participantMetadataChanged(let participant, let text?) where participant.isLocal:
      if let layout = CompositeLayout(metadata: text, first: firstLayout) { await set(layout: layout) }
    case .subscriptionFailed(let participant, let sid, let error): failed(sid, of: participant, error)
    default: break
    }
  }

  /// Brings what is subscribed, seen and heard into line with who is in the room. While the connection is being brought
  /// back all stays as it is.
  func followRoom() async {
    expireLabels()
    guard room.connectionState == .connected else { return }
    let publications = room.publications(of: options.participant).filter { options.kinds.contains($0.kind) }
    for gone in wanted where !publications.contains(where: { $0 === gone }) { subscriptions.forget(gone) }
    wanted = publications
    for publication in publications {
      await subscriptions.add(publication)
      if let refusal = publication.refusal { omit(publication, refusal.message) }
      if publication.isSubscribed, !voices.lack(publication.sid) { omissions.forget(publication.sid) }
    }
    guard !job.isFinished else { return }
    followVoices(wanted)
    scene?.labels = labels
    do throws(LiveKitError) { try scene?.update(wanted, of: room.members(options.participant), at: .now) } catch {
      mixFailure.withLock { $0 = $0 ?? error }
    }
  }

  /// How the tracks of the room are laid out from now on. The server's API does the same with the metadata of this
  /// participant, `{"layout": "speaker"}`, as LiveKit Egress is told.
  public func set(layout: CompositeLayout) async {
    options.layout = layout
    scene?.layout = layout
    tell(.layoutChanged(layout))
    await followRoom()
  }

  private func failed(_ sid: String, of participant: RemoteParticipant, _ error: LiveKitError) {
    guard let publication = participant.trackPublications[sid] else { return }
    omit(publication, error.message)
  }

  func omit(_ publication: RemoteTrackPublication, _ reason: String) {
    note(
      Omission(
        sid: publication.sid, kind: publication.kind, source: publication.source,
        participant: publication.participant?.identity ?? "", reason: reason, wasWanted: true))
  }

  // MARK: Destinations

  public func add(_ destination: OutputDestination) throws(LiveKitError) {
    _ = try join(destination, for: sent, without: idleKinds) { $0.know(room, nil, []) }
  }

  @discardableResult
  public func remove(_ location: String) async throws(LiveKitError) -> DestinationStatus {
    try ended(await part(from: location))
  }
}

extension RoomComposite: JobSource {
  var asked: RecordingOptions { options.recording(options.values.filter { mixFactory.overrides[$0.key] == nil }) }
  nonisolated var request: String { "room composite, \(firstLayout.rawValue)" }
  public var kinds: Set<Track.Kind> { options.kinds }
  var identity: String? { options.participant }
  var sourceFailure: LiveKitError? { mixFailure.withLock { $0 } }

  var received: [RecordedTracks.Received] {
    [Track.Kind.video, .audio].filter(options.kinds.contains).map { kind in
      let all = job.arrivals.values.filter { $0.kind == kind.description }
      return RecordedTracks.Received(
        OutputTrack(
          sid: "", kind: kind, codec: "", isPassthrough: false, dimensions: kind == .video ? options.size : nil,
          packetsReceived: all.reduce(0) { $0 + $1.packets }, packetsLost: all.reduce(0) { $0 + $1.lost }
        ),
        after: nil)
    }
  }

  var flowing: SentMedia { sent }

  /// What is mixed comes, whoever wants it.
  func feed() {}

  func countPackets() async {
    for publication in wanted {
      guard let media = publication.media else { continue }
      job.arrivals[publication.sid] = Manifest.Track(publication, media, await media.reception())
    }
  }

  /// What was before the end is still being mixed.
  func stopArriving(at end: MediaTime) async {
    gate.close(at: end)
    let limit = MediaTime.now + .seconds(2)
    while run?.isActive == true, jobFailure == nil, .now < limit, !gate.isDone(kinds: options.kinds.count) {
      try? await Task.sleep(for: .milliseconds(20))
    }
    await countPackets()
    voices.stop()
    await endRenewals()
    scene?.clear()
    await mix?.stop()
  }
}
