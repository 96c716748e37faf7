import GStreamerKit
import LiveKitProtocol
import PeerTransport
import SignalTransport

// Signalling, and the transport of the media.
extension RoomSession {
  func perform(_ action: SessionAction.Connection) {
    switch action {
    case .open(let mode, let reason): open(mode, reason)
    case .learn(let join, let isFirst): learn(join, isFirst: isFirst)
    case .learnOurselves(let info):
      room.learn(info, of: room.localParticipant)
      requests.told(info)
    case .move(let moved): move(to: moved)
    case .makeTransport(let join): makeTransport(join)
    case .send(let request): link.client?.send(request)
    case .confirm(let request, let confirmation): requests.sent.append(confirm(request, confirmation))
    case .settingsTold: requests.settle()
    case .matchTracks: match()
    case .learnCodecs: learnCodecs()
    case .watchCongestion: watchCongestion()
    }
  }

  // MARK: Signalling

  private func open(_ mode: ReconnectMode, _ reason: ReconnectReason) {
    link.client?.retire()
    if mode == .full {
      link.dropTransport()
      // What has come of messages was of the session that is lost, and so is what was announced in it.
      cutMessages()
      services.local.beginAnew()
    }
    link.reader?.cancel()
    let query = SignalQuery(
      autoSubscribe: state.options.autoSubscribe, adaptiveStream: usesAdaptiveStream,
      resumedSid: mode == .quick ? room.localParticipant.sid : nil, reconnectReason: reason,
      userAgent: MediaBridgeSDK.userAgent)
    link.reader = Task { [earlier = link.reader, link] in
      // What an earlier connection has brought is dealt with before.
      await earlier?.value
      let isDropped = await link.isDropped()
      guard let client = link.client, !Task.isCancelled else { return }
      if !isDropped { warn(of: link.unstopped) }
      await run(client, query)
    }
  }

  private func warn(of unstopped: [String]) {
    logger.warning(
      "what was received or sent before has not stopped; the connection is brought back beside it",
      metadata: unstopped.isEmpty ? [:] : ["tracks": "\(unstopped.joined(separator: ", "))"])
  }

  private func run(_ client: SignalClient, _ query: SignalQuery) async {
    do throws(SignalError) { try await client.open(query) } catch {
      if !Task.isCancelled { handle(.openFailed(SessionFailure(error))) }
      return
    }
    guard !Task.isCancelled else {
      client.send(.goodbye)
      return client.retire()
    }
    logger.debug("signal connected", metadata: ["server": "\(client.url.server)"])
    handle(.opened)
    let reason = await client.read { await receive($0) }
    if let reason, !Task.isCancelled { handle(.signalEnded(SessionFailure(reason))) }
  }

  private func receive(_ message: Livekit_SignalResponse.OneOf_Message) async {
    guard !state.isEnded else { return }
    switch message {
    case .offer(let offer): await answer(offer)
    case .answer(let answer): await accept(answer)
    case .trickle(let trickle):
      guard let candidate = CandidateInit.parse(trickle.candidateInit) else { return }
      if trickle.target == .subscriber {
        await link.transport?.add(candidate)
      } else {
        await link.publisher?.add(candidate)
      }
    case .roomUpdate(let update):
      room.update(update.room)
      handle(.response(message))
    case .speakersChanged(let change): room.update(change.speakers)
    case .connectionQuality(let update): room.update(update.updates)
    case .trackPublished(let response): announced(response)
    case .trackUnpublished(let response): unpublished(response.trackSid)
    case .trackSubscribed(let response): subscribed(response.trackSid)
    case .subscribedQualityUpdate(let update): obey(update)
    case .requestResponse(let response): answered(response)
    case .mute(let mute) where services.local[mute.sid] != nil: obey(mute)
    default:
      note(message)
      if case .reconnect(let reconnect) = message { renewWays(reconnect) }
      handle(.response(message))
      if case .reconnect = message { await offerAnew() }
    }
    await link.matching?.value
  }

  private func note(_ message: Livekit_SignalResponse.OneOf_Message) {
    switch message {
    case .reconnect:
      logger.debug("session resumed")
      room.forgetSpeakers()
    case .leave(let leave):
      logger.debug("the server ends the session", metadata: ["reason": "\(leave.reason)", "action": "\(leave.action)"])
    default: break
    }
  }

  /// Before an offer restarts ICE.
  private func renewWays(_ reconnect: Livekit_ReconnectResponse) {
    link.ways.renew(reconnect, state.options.connect)
    link.transport?.use(link.ways)
    link.publisher?.use(link.ways)
  }

  private func learn(_ join: Livekit_JoinResponse, isFirst: Bool) {
    logger.debug(
      "joined",
      metadata: [
        "room": "\(join.room.name)", "identity": "\(join.participant.identity)", "sid": "\(join.participant.sid)",
        "server": "\(join.serverInfo.version)", "participants": "\(join.otherParticipants.count)",
      ])
    services.local.enabledCodecs = join.enabledVideoCodecs
    if isFirst {
      room.learn(join)
    } else {
      room.forgetSpeakers()
      room.learnAgain(join)
    }
    // What the token allows is known from now on.
    room.localParticipant.session.withLock { $0 = self }
  }

  private func move(to moved: Livekit_RoomMovedResponse) {
    logger.debug("moved", metadata: ["room": "\(moved.room.name)", "sid": "\(moved.participant.sid)"])
    room.forgetSpeakers()
    if moved.hasRoom { room.update(moved.room) }
    room.tell(.roomMoved(room.name))
    if moved.hasParticipant {
      room.learn(moved.participant, of: room.localParticipant)
      publishAgain(allBut: Set(moved.participant.tracks.map(\.sid)))
    }
  }

  // MARK: Transport

  /// Whether the server answers on the way that media takes.
  func isAnswered(within limit: Duration) async -> Bool { await link.transport?.isAnswered(within: limit) ?? false }

  private func makeTransport(_ join: Livekit_JoinResponse) {
    // What it took to get here is not needed for what comes now.
    GStreamer.releaseLoadedCode()
    link.ways = MediaWays(join, state.options.connect, isServerOnLoopback: link.client?.url.isLoopback == true)
    guard !link.ways.areNone else { return handle(.openFailed(SessionFailure(.noRelay, remedy: nil))) }
    let transport = SubscriberTransport(
      link.ways, factory: services.factory, latency: options.receiveLatency, loggers: services.loggers)
    link.transport = transport
    if link.isDownlinkLimited { downlinkLimitChanged(nil) }
    services.begin(
      roundTrip: { [weak self] in await self?.link.transport?.roundTripTime() },
      playbackFailed: { [weak self] error, track in Task { await self?.playbackFailed(error, of: track) } },
      demandsRead: { [weak self] in await self?.demandsRead($0) })
    // Ends with the transport.
    Task { for await event in transport.events { await self.handle(event, of: transport) } }
    // Nothing is offered to someone who may receive nothing.
    if !join.subscriberPrimary { _ = publisher() }
  }

  private func handle(_ event: SubscriberTransport.Event, of transport: SubscriberTransport) async {
    guard !state.isEnded, transport === link.transport else { return }
    switch event {
    case .candidate(let candidate): link.client?.send(.trickle(candidate, for: .subscriber))
    case .state(let new) where state.link.isSubscriberPrimary: handle(.transport(new))
    // A server that lets us receive after all offers a connection that is not the primary one.
    case .state(let new): handle(.secondaryTransport(new))
    case .message(let message): receive(message)
    case .limit(let bitrate): downlinkLimitChanged(bitrate)
    case .mediaChanged: match()
    case .stream(let sid, let change): handle(.stream(sid: sid, change))
    }
    await link.matching?.value
  }

  private func downlinkLimitChanged(_ bitrate: Int?) {
    link.isDownlinkLimited = bitrate != nil
    room.tell(.downlinkLimitChanged(bitrate))
  }

  private func answer(_ offer: Livekit_SessionDescription) async {
    guard let transport = link.transport else { return }
    logger.debug("offer received", metadata: ["tracks": "\(offer.midToTrackID.count)"])
    do throws(LiveKitError) {
      let text = try await transport.answer(offer.sdp, mids: offer.midToTrackID, codecs: state.publishedCodecs)
      // The session may have been lost meanwhile, and then whoever reads the answer does not know the offer.
      guard transport === link.transport, !Task.isCancelled else { return }
      handle(.answered(.init(id: offer.id, offer: offer.sdp, answer: text)))
      logger.debug("answer sent")
    } catch {
      if transport === link.transport { handle(.offerRefused(error)) }
    }
  }

  /// One after another, so that what the transport says later is dealt with later.
  private func match() {
    link.matching = Task { [earlier = link.matching] in
      await earlier?.value
      await readMedia()
    }
  }

  private func readMedia() async {
    guard let transport = link.transport else { return }
    let media = await transport.media
    // That of a session that has been lost meanwhile says nothing.
    guard transport === link.transport else { return }
    link.media = media
    let continuing = media.values.filter(\.isContinuation).map { ObjectIdentifier($0) }
    handle(.media(media.mapValues { ObjectIdentifier($0) }, continuing: Set(continuing)))
  }

  /// A track may have become one that can be decoded here.
  private func learnCodecs() {
    link.matching = Task { [earlier = link.matching] in
      await earlier?.value
      await link.transport?.learn(codecs: state.publishedCodecs)
      await readMedia()
    }
  }
}
