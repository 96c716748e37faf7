import Logging
public import MediaBridge
import MediaCore
package import MediaPipelines
import PipelineTemplates

/// Mixes a connected room into one video and one audio, and writes that. Subscribes to what it needs; of video to what is
/// seen, as large as it is seen, where the room was made with adaptive stream.
public actor RoomComposite {
  /// What a composite has to say while it runs.
  public enum Update: Sendable {
    /// Nobody sends anything; the text says what is missing.
    case waiting(String)
    /// The output has begun.
    case recording([OutputTrack])
    /// A destination has begun, has failed while the others go on, or has ended.
    case destinationChanged(DestinationStatus)
    /// Something of the room is not in the output from now on.
    case omitted(Omission)
  }

  let room: Room
  /// From `prepare` on without the kinds that no destination takes.
  package private(set) var options: CompositeOptions
  private let mixFactory: PipelineFactory
  /// Nil before `prepare`.
  private var targets: RecordingTargets?
  private let loggers: Loggers
  private let subscriptions = SubscriptionLease(.shown)
  private let bell = Bell()
  private let gate = MixGate()
  private let mixFailure = Locked<LiveKitError?>(nil)
  private var onUpdate: @Sendable (Update) -> Void = { _ in }
  private var omissions = OmissionList()
  private var presence = Presence()
  private var wanted: [RemoteTrackPublication] = []
  /// How tracks have come, those that have gone, too.
  private var receptions: [ObjectIdentifier: Received] = [:]

  private struct Received {
    let publication: RemoteTrackPublication
    let reception: IncomingMedia.Reception
  }
  private var state = State.waiting
  private var isTold = false

  /// Goes one way.
  private enum State {
    case waiting
    case running(Run)
    case finished(Run?)
  }

  /// The templates that mix.
  package static let templates = RoomMix.templates

  private struct Run {
    var output: RecordingRun
    let mix: RoomMix
    var scene: CompositeScene
    var tasks: [Task<Void, Never>] = []
  }

  /// Nothing happens before `prepare()` or `start()`.
  /// - Parameter room: may be connected later, but before `start()`.
  public init(room: Room, options: CompositeOptions) {
    (self.room, self.options) = (room, options)
    loggers = Loggers(room.options.logger)
    let templates = PipelineFactory(folder: room.options.pipelineFolder, logger: loggers.pipelines)
    mixFactory = PipelineFactory(
      store: templates.store, overrides: options.values.filter { templates.mixes(with: $0.key) })
  }

  /// Does what can be done before a room is joined: checks what is asked for and the templates, and takes the files.
  /// `finish()` gives them back. `start` does the same where this was not called.
  /// - Throws: what cannot be, and what to do about it.
  public func prepare() throws(LiveKitError) {
    try options.check()
    try LiveKitError.wrapping { () throws(PipelineFailure) in
      try mixFactory.check(options.kinds.flatMap(RoomMix.templates(of:)))
    }
    if targets == nil {
      var recording = options.recording(options.values.filter { mixFactory.overrides[$0.key] == nil })
      var targets = try RecordingTargets(recording, nil, folder: room.options.pipelineFolder, loggers: loggers)
      try targets.check(&recording)
      (self.targets, options.kinds) = (targets, recording.kinds)
    }
    try targets?.claim()
  }

  /// Waits until somebody sends something, and starts to write.
  public func start(onUpdate: @escaping @Sendable (Update) -> Void = { _ in }) async throws(LiveKitError) {
    self.onUpdate = onUpdate
    try prepare()
    let begin = MediaTime.now
    let run = try open()
    state = .running(run)
    do {
      try run.mix.start()
      follow()
      try await awaitFirstMoment(CompositeStart(begin: begin, wait: options.wait))
      onUpdate(.recording(tracks.map(\.track)))
      isTold = true
      tellDestinations()
    } catch {
      await subscriptions.keep(only: [])
      throw error
    }
  }

  private func open() throws(LiveKitError) -> Run {
    targets?.know(room, nil, [])
    try targets?.claim()
    let all = targets?.all ?? []
    let job = Job(
      beginsWithVideo: options.kinds.contains(.video), onKeyframeNeeded: {}, onChange: { [bell] in bell.ring() })
    let traits = options.kinds.reduce(into: [:]) { $0[$1] = TrackTraits(codec: nil) }
    let destinations = all.map { target in
      RecordedDestination(
        opening: target, in: job, for: traits, Job.Video(codec: nil, size: options.size), isOnly: all.count == 1)
    }
    let output = RecordingRun(job: job, destinations: destinations, video: Locked(nil))
    if output.outputs.isEmpty, let lack = output.lack { throw lack }
    let mix = try RoomMix(
      options, factory: mixFactory,
      onMedia: { [gate, media = job.media] buffer, kind in
        guard let time = buffer.pts, gate.passes(kind, at: time) else { return }
        media.write(buffer, kind, isRaw: true)
      },
      onFailure: { [mixFailure, bell] error in
        mixFailure.withLock { $0 = $0 ?? error }
        bell.ring()
      })
    return Run(output: output, mix: mix, scene: CompositeScene(mix, options))
  }

  private func awaitFirstMoment(_ rule: CompositeStart) async throws(LiveKitError) {
    var rule = rule
    var told: String?
    while run?.output.isActive != true {
      if let failure { throw failure }
      if room.connectionState == .disconnected {
        throw room.disconnectError ?? LiveKitError(.disconnected, "the room was left before anything came")
      }
      guard case .running = state, !Task.isCancelled else {
        throw LiveKitError(.cancelled, "it was stopped before anything came")
      }
      await refresh()
      let missing = rule.missing(
        wanted, isSeen: run?.scene.isSeen == true, isHeard: run?.scene.isHeard == true, at: .now)
      if let missing { try rule.checkWait(for: missing, at: .now) } else { gate.open(at: .now) }
      if let missing, told != missing { onUpdate(.waiting(missing)) }
      told = missing ?? told
      await bell.wait(until: .now + .milliseconds(100))
    }
  }

  // MARK: Going on

  private var run: Run? {
    switch state {
    case .waiting: nil
    case .running(let run): run
    case .finished(let run): run
    }
  }

  private func follow() {
    let events = room.events
    keep(
      Task { [weak self] in
        for await event in events { await self?.heed(event) }
      })
    keep(
      Task { [weak self] in
        while !Task.isCancelled {
          try? await Task.sleep(for: .milliseconds(200))
          await self?.tick()
        }
      })
  }

  private func keep(_ task: Task<Void, Never>) {
    guard case .running(var run) = state else { return task.cancel() }
    run.tasks.append(task)
    state = .running(run)
  }

  private func heed(_ event: RoomEvent) async {
    switch event {
    case .trackPublished, .trackUnpublished, .trackSubscribed, .trackUnsubscribed, .muteChanged,
      .activeSpeakersChanged, .participantConnected, .participantDisconnected, .participantNameChanged, .reconnected:
      await refresh()
    case .participantMetadataChanged(let participant, let text?) where participant.isLocal:
      if let layout = CompositeLayout(metadata: text) { await set(layout: layout) }
    case .subscriptionFailed(let participant, let sid, let error): failed(sid, of: participant, error)
    default: break
    }
  }

  private func tick() async {
    await refresh()
    endWhatFailed()
    tellDestinations()
    watchPresence()
    run?.output.job.media.advance(to: presence.overSince ?? .now)
  }

  private func endWhatFailed() {
    guard case .running(var run) = state else { return }
    _ = run.output.endWhatFailed()
    state = .running(run)
  }

  private func tellDestinations() {
    guard isTold, case .running(var run) = state else { return }
    let changed = run.output.changes(run.output.progress(tracks, omissions.all))
    state = .running(run)
    for status in changed { onUpdate(.destinationChanged(status)) }
  }

  /// Brings what is subscribed, seen and heard into line with who is in the room. While the connection is being brought
  /// back all stays as it is.
  private func refresh() async {
    guard room.connectionState == .connected else { return }
    let publications = room.publications.filter { options.kinds.contains($0.kind) }
    for gone in wanted where !publications.contains(where: { $0 === gone }) { subscriptions.forget(gone) }
    wanted = publications
    for publication in publications {
      await subscriptions.add(publication)
      if let refusal = publication.refusal { omit(publication, refusal.message) }
      if publication.isSubscribed { omissions.forget(publication.sid) }
    }
    guard case .running(var run) = state else { return }
    do throws(LiveKitError) { try run.scene.update(wanted, at: .now) } catch {
      mixFailure.withLock { $0 = $0 ?? error }
    }
    state = .running(run)
  }

  /// How the tracks of the room are laid out from now on. The server's API does the same with the metadata of this
  /// participant, `{"layout": "speaker"}`, as LiveKit Egress is told.
  public func set(layout: CompositeLayout) async {
    guard case .running(var run) = state else { return }
    run.scene.layout = layout
    state = .running(run)
    await refresh()
  }

  /// While the connection is being brought back nobody is known to have left.
  private func watchPresence() {
    guard options.endsWhenEmpty, room.connectionState == .connected else { return }
    presence.note(room.remoteParticipants.values.allSatisfy { !$0.mayPublish }, at: .now)
  }

  private func failed(_ sid: String, of participant: RemoteParticipant, _ error: LiveKitError) {
    guard let publication = participant.trackPublications[sid] else { return }
    omit(publication, error.message)
  }

  private func omit(_ publication: RemoteTrackPublication, _ reason: String) {
    let omission = Omission(
      sid: publication.sid, kind: publication.kind, source: publication.source,
      participant: publication.participant?.identity ?? "", reason: reason, wasWanted: true)
    if omissions.note(omission) { onUpdate(.omitted(omission)) }
  }

  // MARK: State

  /// Time since the output's first moment; zero before it.
  public var elapsed: Duration { run?.output.job.media.origin.map { .now - $0 } ?? .zero }
  /// Why nothing can be written any more; nil while it can.
  public var failure: LiveKitError? { mixFailure.withLock { $0 } ?? run?.output.failure }
  /// What has ended it; it is for the caller to finish it then.
  public var ending: RecordingOptions.Ending? { presence.isOver ? .roomEmpty : nil }

  private var tracks: [RecordedTracks.Received] {
    [Track.Kind.video, .audio].filter(options.kinds.contains).map { kind in
      let all = receptions.values.filter { $0.publication.kind == kind }.map(\.reception)
      return RecordedTracks.Received(
        OutputTrack(
          sid: "", kind: kind, codec: "", isPassthrough: false, dimensions: kind == .video ? options.size : nil,
          packetsReceived: all.reduce(0) { $0 + $1.packetsReceived }, packetsLost: all.reduce(0) { $0 + $1.packetsLost }
        ),
        after: nil)
    }
  }

  private func countPackets() async {
    for publication in wanted {
      guard let reception = await publication.media?.reception() else { continue }
      receptions[ObjectIdentifier(publication)] = Received(publication: publication, reception: reception)
    }
  }

  /// How far it is; after `finish()` what the files hold.
  public func progress() async -> OutputProgress {
    await countPackets()
    return run?.output.progress(tracks, omissions.all) ?? OutputProgress(omissions: omissions.all)
  }

  // MARK: The end

  /// Completes and closes all destinations. Called again it only says what they hold.
  /// - Throws: why they are not all complete; `progress()` says how each of them is, and what was written before stays.
  public func finish() async throws(LiveKitError) -> OutputProgress {
    if case .finished = state { return await progress() }
    let end = presence.overSince.flatMap { presence.isOver ? $0 : nil } ?? .now
    if case .running = state { await drain(until: end) }
    await countPackets()
    guard case .running(var run) = state else {
      state = .finished(nil)
      targets?.release()
      return await progress()
    }
    state = .finished(run)
    for task in run.tasks {
      task.cancel()
      await task.value
    }
    run.scene.clear()
    await run.mix.stop()
    await subscriptions.keep(only: [])
    defer { targets?.release() }
    await run.output.finish(at: end)
    if let lack = mixFailure.withLock({ $0 }) ?? run.output.lack { throw lack }
    return await progress()
  }

  /// What was before the end is still being mixed.
  private func drain(until end: MediaTime) async {
    gate.close(at: end)
    let limit = MediaTime.now + .seconds(2)
    while run?.output.isActive == true, failure == nil, .now < limit, !gate.isDone(kinds: options.kinds.count) {
      try? await Task.sleep(for: .milliseconds(20))
    }
  }
}

extension Room {
  /// All that is published, by whoever joined first.
  fileprivate var publications: [RemoteTrackPublication] {
    let participants = remoteParticipants.values.sorted {
      ($0.joinedAt ?? .distantPast, $0.identity ?? "") < ($1.joinedAt ?? .distantPast, $1.identity ?? "")
    }
    return participants.flatMap { TrackChoice.ordered(Array($0.trackPublications.values)) }
  }
}
