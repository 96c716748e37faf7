import LiveKitProtocol
import MediaCore
import PeerTransport
import SignalTransport

// One session: signalling, and the transport of the media.
extension RoomEngine {
  /// Begins a session, and returns once its media is connected.
  func join() async throws(SessionFailure) {
    try await openSignal(resuming: nil)
    // The transport knows better what is wrong, so it is given its time first.
    guard let access else { return }
    try await awaitAttempt(
      within: access.options.timeout + .seconds(1),
      "\(access.url.server) accepted the join but offered no media connection")
  }

  /// Waits until the session stands.
  func awaitAttempt(within limit: Duration, _ complaint: String) async throws(SessionFailure) {
    let watch = Task { [attempt] in
      try await Task.sleep(for: limit)
      attempt.settle(.failure(SessionFailure(LiveKitError(.timedOut, complaint), remedy: .full)))
    }
    defer { watch.cancel() }
    try await attempt.value()
  }

  /// Opens the signalling connection and begins to read from it.
  /// - Parameter earlier: what the connection left whose session goes on; nil for a new session.
  func openSignal(resuming earlier: SignalSuccession?) async throws(SessionFailure) {
    guard let access, !isOver else { throw SessionFailure.givenUp }
    attempt = Outcome()
    reconnection?.lateFailure = nil
    let query = SignalQuery(
      autoSubscribe: access.autoSubscribe, adaptiveStream: usesAdaptiveStream,
      resumedSid: earlier.map { _ in room.localParticipant.sid }, userAgent: MediaBridgeSDK.userAgent)
    let opening = earlier.map { SignalState.Opening.resume($0.pings) } ?? .join
    let signal: SignalConnection
    do {
      signal = try await SignalConnection.connect(
        to: access.url, token: access.token, query: query, opening: opening, timeout: access.options.timeout)
    } catch {
      guard !Task.isCancelled else { throw SessionFailure.givenUp }
      throw SessionFailure(LiveKitError(error), remedy: error.remedy)
    }
    guard !isOver else {
      signal.send(.goodbye)
      await signal.close()
      throw SessionFailure.givenUp
    }
    logger.debug("signal connected", metadata: ["server": "\(access.url.server)"])
    self.signal = signal
    // What an earlier connection has brought is dealt with before.
    reader = Task { [earlier = reader] in
      await earlier?.value
      await self.read(signal)
    }
  }

  private func read(_ signal: SignalConnection) async {
    for await response in signal.responses {
      // Another connection has taken its place, or the room was left.
      guard signal === self.signal, !isOver else { return }
      await handle(response)
    }
    guard signal === self.signal, !isOver else { return }
    let reason = signal.closeReason ?? .closed("no reason given")
    await failed(SessionFailure(LiveKitError(reason), remedy: reason.remedy))
  }

  private func handle(_ response: Livekit_SignalResponse) async {
    switch response.message {
    case .join(let join): await joined(join)
    case .reconnect: resumed()
    case .offer(let offer): await receive(offer)
    case .trickle(let trickle):
      guard trickle.target == .subscriber, let candidate = CandidateInit.parse(trickle.candidateInit) else { return }
      await subscriber?.add(candidate)
    case .update(let update): for info in update.participants { await self.update(info) }
    case .mute(let mute): setMuted(mute.muted, trackSid: mute.sid)
    case .roomUpdate(let update): self.update(update.room)
    case .speakersChanged(let change): update(change.speakers)
    case .connectionQuality(let update): self.update(update.updates)
    case .streamStateUpdate(let update): for state in update.streamStates { self.update(state) }
    case .subscriptionPermissionUpdate(let update): self.update(update)
    case .subscriptionResponse(let response): subscriptionFailed(response)
    case .leave(let leave):
      logger.debug("the server ends the session", metadata: ["reason": "\(leave.reason)", "action": "\(leave.action)"])
      await failed(SessionFailure(LiveKitError(leave.reason), remedy: leave.remedy))
    default: break
    }
  }

  private func joined(_ join: Livekit_JoinResponse) async {
    guard subscriber == nil, let access else { return }
    logger.debug(
      "joined",
      metadata: [
        "room": "\(join.room.name)", "identity": "\(join.participant.identity)", "sid": "\(join.participant.sid)",
        "server": "\(join.serverInfo.version)", "participants": "\(join.otherParticipants.count)",
      ])
    if reconnection == nil { learn(join) } else { learnAnew(join) }
    // A server offers no connection for media to someone who may not have any.
    if join.participant.hasPermission, !join.participant.permission.canSubscribe {
      return await failed(SessionFailure(.maySubscribeNothing, remedy: nil))
    }
    let servers = join.iceServers.map {
      ICEServer(urls: $0.urls, username: $0.username, credential: $0.credential)
    }
    let subscriber = SubscriberTransport(
      servers: servers, localAddresses: access.url.loopbackAddresses, timeout: access.options.timeout,
      factory: factory, latency: options.receiveLatency)
    (self.subscriber, isMediaConnected) = (subscriber, false)
    if statistics == nil { beginServices() }
    // Ends with the transport.
    Task { for await event in subscriber.events { await self.handle(event, of: subscriber) } }
    if reconnection == nil {
      for info in join.otherParticipants { addOrUpdate(info) }
    } else {
      await meetAgain(join.otherParticipants)
    }
  }

  /// What goes on from session to session.
  private func beginServices() {
    if options.audioPlayback == .automatic { playback = makePlayback() }
    statistics = StatisticsReporter(
      roundTrip: { [weak self] in await self?.subscriber?.roundTripTime() },
      tell: { [weak room] in room?.tell($0) })
    if usesAdaptiveStream { watchDemands() }
  }

  // MARK: Transport

  private func handle(_ event: SubscriberTransport.Event, of transport: SubscriberTransport) async {
    guard !isOver, transport === subscriber else { return }
    switch event {
    case .candidate(let candidate): trickle(candidate)
    case .state(.failed(.closedByPeer)): mediaEnded(transport)
    case .state(let state): await changed(state)
    case .message(let message): receive(message)
    case .mediaChanged: await matchTracks()
    case .stream(let sid, let change): streamChanged(change, trackSid: sid)
    }
  }

  private func receive(_ offer: Livekit_SessionDescription) async {
    guard let subscriber, let signal else { return }
    do throws(LiveKitError) {
      logger.debug("offer received", metadata: ["tracks": "\(offer.midToTrackID.count)"])
      let text = try await subscriber.answer(offer.sdp, mids: offer.midToTrackID, codecs: publishedCodecs)
      // The session may have been lost meanwhile, and then whoever reads the answer does not know the offer.
      guard subscriber === self.subscriber, signal === self.signal else { return }
      descriptions = (offer.sdp, text)
      var request = Livekit_SignalRequest()
      request.answer.type = "answer"
      request.answer.sdp = text
      request.answer.id = offer.id
      signal.send(request)
      logger.debug("answer sent")
      await matchTracks()
    } catch {
      guard subscriber === self.subscriber else { return }
      await failed(SessionFailure(error, remedy: .full))
    }
  }

  private func trickle(_ candidate: String) {
    var request = Livekit_SignalRequest()
    request.trickle.candidateInit = CandidateInit.text(candidate)
    request.trickle.target = .subscriber
    signal?.send(request)
  }

  private func changed(_ state: PeerState) async {
    isMediaConnected = state == .connected
    switch state {
    case .connected: sessionMayStand()
    case .disconnected(let error):
      // While the session is resumed for it, this is no news.
      if reconnection == nil { await failed(SessionFailure(LiveKitError(error), remedy: .quick)) }
    case .failed(let error): await failed(SessionFailure(LiveKitError(error), remedy: .full))
    default: break
    }
  }

  /// How long a server that has ended the media may take to say why.
  private static let farewell = Duration.seconds(2)

  /// The server has ended the media. Why, it says on the other connection, which may be read a little later, or ends it,
  /// too: whoever was sent away is not to come back.
  private func mediaEnded(_ transport: SubscriberTransport) {
    isMediaConnected = false
    Task {
      try? await Task.sleep(for: Self.farewell)
      guard transport === subscriber, !isOver else { return }
      await failed(SessionFailure(LiveKitError(PeerError.closedByPeer), remedy: .full))
    }
  }

  /// A session stands once both of its connections do; the media's may never have been lost.
  private func sessionMayStand() {
    let isSignalled = reconnection.map { $0.mode == .full || $0.isResumed } ?? true
    if isSignalled && isMediaConnected { attempt.settle(.success(())) }
  }

  // MARK: Going on

  /// The session goes on: the server is told what it may have missed.
  private func resumed() {
    guard reconnection?.mode == .quick else { return }
    reconnection?.isResumed = true
    logger.debug("session resumed")
    var request = Livekit_SignalRequest()
    request.syncState = syncState
    signal?.send(request)
    tellOverdueSubscriptions()
    sessionMayStand()
  }

  /// What was asked for last may have been lost with the connection, and the state says only what is unusual.
  private func tellOverdueSubscriptions() {
    for isWanted in [true, false] {
      let overdue = publications.filter { publication in
        publication.subscription.withLock { $0.isWanted == isWanted && ($0.track != nil) != isWanted }
      }
      if !overdue.isEmpty { signal?.send(.subscription(to: overdue, isWanted: isWanted)) }
    }
  }

  /// What it says of subscriptions is only what the program asked for, so that a track whose media is not there yet is
  /// not taken for one that is not wanted.
  private var syncState: Livekit_SyncState {
    var state = Livekit_SyncState()
    state.subscription.subscribe = !autoSubscribe
    state.subscription.trackSids = publications.filter(isUnusual).map(\.sid)
    state.trackSidsDisabled = publications.filter { publication in
      publication.subscription.withLock { $0.toldSettings?.applied.isEnabled == false }
    }.map(\.sid)
    if let descriptions {
      (state.offer.type, state.offer.sdp) = ("offer", descriptions.offer)
      (state.answer.type, state.answer.sdp) = ("answer", descriptions.answer)
    }
    return state
  }

  var publications: [RemoteTrackPublication] {
    room.remoteParticipants.values.flatMap { $0.trackPublications.values }
  }
}

extension SignalError {
  /// What may help when a connection ends so; nil when nothing will.
  fileprivate var remedy: ReconnectMode? {
    switch self {
    case .invalidURL, .invalidPort, .malformedToken, .tls, .refused(401, _), .refused(403, _): nil
    // A session that is unknown to the server is joined anew.
    case .badMessage: .full
    // While a server starts, what stands before it may answer in its place.
    case .unresolvedHost, .connectionRefused, .timedOut, .refused, .notLiveKit, .closed, .lost: .quick
    }
  }
}

extension Livekit_LeaveRequest {
  /// What the server asks for; servers before LiveKit 1.6 say only that one may come back. One that shuts down is
  /// expected to start again.
  fileprivate var remedy: ReconnectMode? {
    switch (action, reason) {
    case (.resume, _), (.disconnect, .migration): .quick
    case (.reconnect, _), (.disconnect, .serverShutdown): .full
    default: canReconnect ? .full : nil
    }
  }
}
