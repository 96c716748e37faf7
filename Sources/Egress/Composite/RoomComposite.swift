import GStreamerKit
public import MediaBridge
import MediaCore
package import MediaPipelines
import PipelineTemplates

/// Mixes a connected room into one video and one audio, and writes that. Subscribes to what it needs; of video to what is
/// seen, as large as it is seen, where the room was made with adaptive stream.
public actor RoomComposite: EgressJob {
  let room: Room
  private(set) var plan: CompositePlan
  let subscriptions = SubscriptionLease(.shown)
  let notifier = EgressNotifier()
  let bell = Bell()
  var job = JobState()
  var omissions = OmissionList()
  var mixing = CompositeMixing()
  var members = CompositeMembers()
  var labels = (board: LabelBoard(), messages: LabelMessages())
  /// Media threads ask it for each frame.
  let burned = Locked(BurnedCaptions())

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
    self.room = room
    plan = CompositePlan(options, of: room, onFrame: onFrame)
  }

  var options: CompositeOptions { plan.options }

  public func prepare() throws(LiveKitError) {
    try plan.check()
    if plan.onFrame == nil {
      var recording = asked
      try checkTargets(&recording)
      plan.keep(recording.kinds)
    }
    try plan.checkInstalled(options.kinds)
    try checkLabels()
    loadElements()
  }

  /// Encoders bring the largest libraries along, which take as long to load as it takes to join a room. Those of
  /// outputs are there, too, when these are opened at the first moment.
  private func loadElements() {
    let targets = job.targets?.all ?? []
    let outputs = targets.compactMap { try? $0.fillOutput() }
    GStreamer.load(
      targets.flatMap { $0.encoderElements(of: sent.traits) } + outputs.flatMap { $0.elements.map(\.factory) })
  }

  func begin() async throws(LiveKitError) {
    let wait = SourceWait(room: room, deadline: options.wait.map { .now + $0 })
    try open()
    keepGoing()
    try await awaitFirstMoment(wait)
  }

  private func open() throws(LiveKitError) {
    job.targets?.know(room, nil, [])
    try job.targets?.claim()
    if opensLater { try checkOutputs() }
    try begin(
      with: sent, beginsWithVideo: options.kinds.contains(.video), video: Locked(nil), opensLater: opensLater)
    guard let media = run?.job.media else { return }
    let relay = MixRelay { [gate = mixing.gate, onFrame = plan.onFrame] buffer, kind in
      guard let time = buffer.pts, gate.passes(kind, at: time) else { return }
      if let onFrame, let frame = VideoFrameBuffer(buffer) {
        media.begin(at: time)
        return onFrame(VideoFrame(buffer: frame, time: time))
      }
      media.write(buffer, kind, isRaw: true)
    }
    mixing.changes = MixChanges(relay)
    for kind in options.kinds {
      mixing.changes?.templates[kind] = try LiveKitError.wrapping { () throws(PipelineFailure) in try mixTemplates(kind)
      }
    }
    let mix = try makeMix(options.kinds, isFirst: true)
    let scene = CompositeScene(mix, options) { [weak self] in Task { await self?.firstFrameCame() } }
    (mixing.mix, mixing.scene) = (mix, scene)
    expectDelays()
    // Those that were set before.
    if labels.board.text(of: nil) != nil { try showLabel(of: nil) }
  }

  /// What opening them would find wrong with the templates of all is known before anybody comes.
  private func checkOutputs() throws(LiveKitError) {
    let targets = job.targets?.all ?? []
    let failures = targets.compactMap { target -> PipelineFailure? in
      do throws(PipelineFailure) {
        _ = try target.factory.make(target.fillOutput())
        return nil
      } catch { return error }
    }
    if failures.count == targets.count, let failure = failures.first { throw LiveKitError(failure) }
  }

  /// Whether destinations are opened at the first moment: whoever is there then has a track from it on, and an old file
  /// stays until there is something to take its place. Where all goes to servers, one that refuses it ends the job,
  /// which is to be known before anybody comes.
  private var opensLater: Bool { hasVoices || job.targets?.all.contains(where: \.destination.isFile) == true }

  /// - Parameter isFirst: whether it goes on at once.
  func makeMix(_ kinds: Set<Track.Kind>, isFirst: Bool = false) throws(LiveKitError) -> RoomMix {
    var options = options
    options.kinds = kinds
    guard let relay = mixing.changes?.relay else { throw LiveKitError(.invalidState, "nothing is mixed yet") }
    let turns = kinds.reduce(into: [:]) { $0[$1] = isFirst ? 0 : relay.nextTurn($1) }
    return try RoomMix(
      options, factory: plan.factory, captions: { [burned] time in burned.withLock { $0.text(at: time) } },
      onMedia: { relay.take($0, $1, of: turns[$1] ?? 0) },
      onFailure: { [failure = mixing.failure, bell] error, kind in
        guard relay.note(error, kind, of: turns[kind] ?? 0) else { return }
        failure.withLock { $0 = $0 ?? error }
        bell.ring()
      })
  }

  private var sent: SentMedia { SentMedia(mixed: options, members.voices.list.all) }

  private func awaitFirstMoment(_ wait: SourceWait) async throws(LiveKitError) {
    var rule = CompositeStart()
    var told: String?
    try await awaitFirstMoment(wait, pause: .milliseconds(100)) {
      // What came first by chance, such as placeholders before their cameras, is not the order of the recording.
      mixing.scene?.forgetOrder()
      await followRoom()
      let missing = rule.missing(
        members.wanted, isSeen: mixing.scene?.isSeen == true, isHeard: mixing.scene?.isHeard == true, at: .now)
      if missing == nil { beginWriting() }
      if let missing, told != missing { tell(.waiting(missing)) }
      told = missing ?? told
      return (missing, options.choice.words == nil ? "check the room's name, or " : "check the identities, or ")
    }
  }

  private func beginWriting() {
    // It may have been finished while the room was looked at.
    guard !job.isFinished else { return }
    do throws(LiveKitError) { try openDestinations(for: sent) } catch { mixing.fail(error) }
    mixing.gate.open(at: .now)
  }

  // MARK: Going on

  func heed(_ event: RoomEvent) async {
    await heedLabels(event)
    burnCaptions(event)
    switch event {
    case .trackPublished, .trackUnpublished, .trackSubscribed, .trackUnsubscribed, .codecChanged, .muteChanged,
      .activeSpeakersChanged, .participantConnected, .participantDisconnected, .participantNameChanged, .reconnected:
      await followRoom()
    case .participantMetadataChanged(let participant, let text?) where participant.isLocal:
      await set(layoutIn: text)
    case .subscriptionFailed(let participant, let sid, let error): failed(sid, of: participant, error)
    default: break
    }
  }

  /// The composite may begin with it; later on it is that of a screen share, or of who becomes large, which the layout waits
  /// for.
  private func firstFrameCame() async {
    guard run?.isActive == true else { return bell.ring() }
    if !job.isFinished { await followRoom() }
  }

  /// Who speaks is seen in the frames that are mixed.
  nonisolated var pace: Duration { .milliseconds(200) }

  /// Brings what is subscribed, seen and heard into line with who is in the room. While the connection is being brought
  /// back all stays as it is.
  func followRoom() async {
    expireLabels()
    watchMixing()
    guard room.connectionState == .connected else { return }
    let publications = room.publications(of: options.choice).filter { options.kinds.contains($0.kind) }
    await count(members.follow(publications))
    for publication in publications {
      await subscriptions.add(publication)
      if let refusal = publication.refusal { omit(publication, refusal.message) }
      if publication.isSubscribed, !lacks(publication.sid) { omissions.forget(publication.sid) }
    }
    await noteArrivals()
    guard !job.isFinished else { return }
    followVoices(members.wanted)
    guard startMixing() else { return }
    showAndHear()
    noteGaps()
  }

  private func noteGaps() {
    guard let media = run?.job.media, let scene = mixing.scene else { return }
    members.gaps.note(scene.places(of: members.wanted), age: media.age, at: jobAge)
  }

  /// Whether something of it is missing though it is subscribed.
  private func lacks(_ sid: String) -> Bool {
    members.voices.lack(sid) || members.unreadable.contains(sid) || members.silent.contains(sid)
      || mixing.scene?.hasFailed(sid) == true
  }

  /// What keeps a tile or a voice out stops only that. In a mix that is yet to take over it is a reason not to.
  private func showAndHear() {
    mixing.scene?.labels = labels.board
    let failed = mixing.scene?.update(members.wanted, of: room.participants(of: options.choice), at: .now) ?? []
    for omission in failed where mixing.changes?.isRenewing(omission.kind) != true { note(omission) }
    if mixing.changes?.isRenewing(.video) != true { mendBackground() }
  }

  private func mendBackground() {
    guard let error = mixing.mix?.mend(background: options.background, at: .now) else {
      return omissions.forget(Self.background)
    }
    note(
      Omission(
        sid: Self.background, kind: .video, source: .unknown, participant: "",
        reason: "the background is black for a while, and is tried again (\(error.message))", wasWanted: true))
  }
  /// Stands for the id of a track.
  private static let background = "background"

  /// Counts what has come of those that come no more.
  private func count(_ gone: [RemoteTrackPublication]) async {
    for publication in gone {
      subscriptions.forget(publication)
      guard let arrival = members.arrivals.first(where: { $0.publication === publication }) else { continue }
      await count(arrival)
      job.arrivals.close(arrival.sid)
      members.forget(publication)
    }
  }

  /// Counts what has come of those that come in another session or codec since.
  private func noteArrivals() async {
    for old in members.noteArrivals() {
      job.arrivals.note(await old.track())
      job.arrivals.close(old.sid)
    }
  }

  /// What of it was silent is not once something has come.
  private func count(_ arrival: CompositeMembers.Arrival) async {
    let (sid, track) = (arrival.publication.sid, await arrival.track())
    // Others look at the room meanwhile.
    guard members.has(arrival) else { return }
    job.arrivals.note(track)
    if track.packets > 0, members.silent.remove(sid) != nil, !lacks(sid) { omissions.forget(sid) }
  }

  /// What is no layout, or not all of one, is said.
  private func set(layoutIn metadata: String) async {
    guard let name = CompositeLayout.name(inMetadata: metadata) else { return }
    let layout = CompositeLayout(named: name, first: plan.firstLayout)
    if let layout { await set(layout: layout) }
    guard layout?.rawValue != name else { return }
    tell(.layoutRefused(CompositeLayout.refusal(of: name, layout)))
  }

  /// How the tracks of the room are laid out from now on. The server's API does the same with the metadata of this
  /// participant, `{"layout": "speaker"}`, as LiveKit Egress is told.
  public func set(layout: CompositeLayout) async {
    plan.set(layout)
    mixing.scene?.layout = layout
    // An image that has gone meanwhile is no reason to lay out otherwise.
    do throws(LiveKitError) { try mixing.mix?.show(background: options.background) } catch {
      tell(.layoutRefused(error))
    }
    tell(.layoutChanged(layout))
    await followRoom()
  }

  private func failed(_ sid: String, of participant: RemoteParticipant, _ error: LiveKitError) {
    guard let publication = participant.trackPublications[sid] else { return }
    let isForbidden = error.code == .permissionDenied && job.arrivals.has(sid)
    if publication.isSubscribed && error.code != .noMedia || isForbidden { members.unreadable.insert(sid) }
    if error.code == .noMedia { members.silent.insert(sid) }
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
    _ = try join(destination, for: sent, without: plan.idleKinds) { $0.know(room, nil, []) }
  }

  @discardableResult
  public func remove(_ location: String) async throws(LiveKitError) -> DestinationStatus {
    try ended(await part(from: location))
  }
}

extension RoomComposite: JobSource {
  var asked: RecordingOptions { plan.recording }
  var request: String {
    "room composite\(options.choice.words.map { " of \($0)" } ?? ""), \(plan.firstLayout.rawValue)"
  }
  public var kinds: Set<Track.Kind> { options.kinds }
  var identity: String? { options.participant }
  func counts(_ participant: RemoteParticipant) -> Bool { options.choice.includes(participant.identity) }
  var sourceFailure: LiveKitError? { mixing.failure.withLock { $0 } }
  var losses: MixLosses? { mixing.losses }
  func mixedGaps(until length: Duration) -> [Manifest.Span] {
    // Whoever looked at the room last did so before the end.
    if let media = run?.job.media { members.gaps.take(media.age) }
    return members.gaps.spans(until: length)
  }

  var incoming: [IncomingMedia] { members.arrivals.map(\.media) }
  var received: [RecordedTracks.Received] {
    [Track.Kind.video, .audio].filter(options.kinds.contains).map { kind in
      let sum = job.arrivals.sum(kind.description)
      return RecordedTracks.Received(
        OutputTrack(
          sid: "", kind: kind, codec: "", isPassthrough: false, dimensions: kind == .video ? options.size : nil,
          packetsReceived: sum.packets, packetsLost: sum.lost),
        after: nil)
    }
  }

  var flowing: SentMedia { sent }

  /// What is mixed comes, whoever wants it.
  func feed() {}

  func countPackets() async {
    await noteArrivals()
    for arrival in members.arrivals { await count(arrival) }
  }
}
