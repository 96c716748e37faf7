import Foundation
import GStreamerKit
import LiveKitProtocol
import Logging
import MediaCore
import PeerTransport
import SignalTransport

/// Runs one connection to a room: what the server says becomes participants, publications, tracks and events.
actor RoomEngine: SubscriptionRequests {
  /// Held until the connection has ended, when the room forgets its engine: what still arrives has somewhere to go.
  private let room: Room
  private let options: RoomOptions
  private let factory: PipelineFactory
  private var signal: SignalConnection?
  private var subscriber: SubscriberTransport?
  private var autoSubscribe = true
  private var reader: Task<Void, Never>?
  private let connected = Outcome<Void, LiveKitError>()
  private var isOver = false
  private var timeout = ConnectOptions().timeout
  private let logger = Logger(label: "mediabridge.room")

  init(room: Room, options: RoomOptions) {
    self.room = room
    self.options = options
    factory = PipelineFactory(folder: options.pipelineFolder, overrides: options.pipelineValues)
  }

  // MARK: Connecting

  func connect(url text: String, token: String, options connect: ConnectOptions) async throws(LiveKitError) {
    autoSubscribe = connect.autoSubscribe ?? options.autoSubscribe
    timeout = connect.timeout
    do { try GStreamer.initialize() } catch { throw LiveKitError(.pipeline, "GStreamer cannot start: \(error)") }
    let url: SignalURL
    let signal: SignalConnection
    do throws(SignalError) {
      url = try SignalURL(text)
      signal = try await SignalConnection.connect(
        to: url, token: token, query: SignalQuery(autoSubscribe: autoSubscribe), timeout: connect.timeout)
    } catch {
      throw LiveKitError(error)
    }
    guard !isOver else {
      await signal.close()
      throw LiveKitError(.cancelled, "the connection was given up")
    }
    logger.debug("signal connected", metadata: ["server": "\(url.server)"])
    self.signal = signal
    reader = Task { await self.read(signal, localAddresses: url.loopbackAddresses) }
    // The transport knows better what is wrong, so it is given its time first.
    let limit = Task { [connected, timeout] in
      try await Task.sleep(for: timeout + .seconds(1))
      connected.settle(
        .failure(LiveKitError(.timedOut, "\(url.server) accepted the join but offered no media connection")))
    }
    defer { limit.cancel() }
    try await connected.value()
  }

  private func read(_ signal: SignalConnection, localAddresses: [String]) async {
    for await response in signal.responses {
      await handle(response, localAddresses)
      if isOver { return }
    }
    let reason = signal.closeReason ?? .closed("no reason given")
    await end(with: LiveKitError(reason))
  }

  private func handle(_ response: Livekit_SignalResponse, _ localAddresses: [String]) async {
    guard !isOver else { return }
    switch response.message {
    case .join(let join): await joined(join, localAddresses)
    case .offer(let offer): await receive(offer)
    case .trickle(let trickle):
      guard trickle.target == .subscriber, let candidate = CandidateInit.parse(trickle.candidateInit) else { return }
      await subscriber?.add(candidate)
    case .update(let update): for info in update.participants { await self.update(info) }
    case .mute(let mute): setMuted(mute.muted, trackSid: mute.sid)
    case .roomUpdate(let update): self.update(update.room)
    case .streamStateUpdate(let update): for state in update.streamStates { self.update(state) }
    case .subscriptionPermissionUpdate(let update): self.update(update)
    case .subscriptionResponse(let response): subscriptionFailed(response)
    case .leave(let leave):
      logger.debug("the server ends the session", metadata: ["reason": "\(leave.reason)"])
      await end(with: LiveKitError(leave.reason))
    default: break
    }
  }

  private func joined(_ join: Livekit_JoinResponse, _ localAddresses: [String]) async {
    guard subscriber == nil else { return }
    logger.debug(
      "joined",
      metadata: [
        "room": "\(join.room.name)", "identity": "\(join.participant.identity)", "sid": "\(join.participant.sid)",
        "server": "\(join.serverInfo.version)", "participants": "\(join.otherParticipants.count)",
      ])
    update(join.room)
    room.localParticipant.info.withLock { $0 = .init(join.participant) }
    // A server offers no connection for media to someone who may not have any.
    if join.participant.hasPermission, !join.participant.permission.canSubscribe {
      return await end(with: .maySubscribeNothing)
    }
    let servers = join.iceServers.map {
      ICEServer(urls: $0.urls, username: $0.username, credential: $0.credential)
    }
    subscriber = SubscriberTransport(
      servers: servers, localAddresses: localAddresses, timeout: timeout, factory: factory,
      latency: options.receiveLatency,
      handlers: .init(
        candidate: { [weak self] candidate in Task { await self?.trickle(candidate) } },
        state: { [weak self] state in Task { await self?.changed(state) } },
        data: { [weak self] message in Task { await self?.receive(message) } },
        media: { [weak self] in Task { await self?.matchTracks() } }))
    for info in join.otherParticipants { addOrUpdate(info) }
  }

  private func receive(_ offer: Livekit_SessionDescription) async {
    guard let subscriber else { return }
    do throws(LiveKitError) {
      logger.debug("offer received", metadata: ["tracks": "\(offer.midToTrackID.count)"])
      let text = try await subscriber.answer(offer.sdp, mids: offer.midToTrackID, codecs: publishedCodecs)
      var request = Livekit_SignalRequest()
      request.answer.type = "answer"
      request.answer.sdp = text
      request.answer.id = offer.id
      signal?.send(request)
      logger.debug("answer sent")
      await matchTracks()
    } catch {
      await end(with: error)
    }
  }

  private func trickle(_ candidate: String) {
    var request = Livekit_SignalRequest()
    request.trickle.candidateInit = CandidateInit.text(candidate)
    request.trickle.target = .subscriber
    signal?.send(request)
  }

  private func changed(_ state: PeerState) async {
    switch state {
    case .connected: connected.settle(.success(()))
    case .failed(let error): await end(with: LiveKitError(error))
    default: break
    }
  }

  // MARK: Ending

  func leave() async {
    var request = Livekit_SignalRequest()
    request.leave.reason = .clientInitiated
    request.leave.action = .disconnect
    signal?.send(request)
    await end(with: nil)
  }

  func end(with error: LiveKitError?) async {
    guard !isOver else { return }
    isOver = true
    logger.debug("disconnected", metadata: ["reason": "\(error?.message ?? "asked for")"])
    for participant in room.remoteParticipants.values { removeTracks(of: participant) }
    await subscriber?.close()
    subscriber = nil
    await signal?.close()
    signal = nil
    room.ended(error)
    connected.settle(.failure(error ?? LiveKitError(.cancelled, "the connection was given up")))
  }

  // MARK: Subscription

  func set(subscribed: Bool, trackSid: String) async throws {
    guard let signal, !isOver else {
      throw LiveKitError(.invalidState, "the room is not connected; connect before subscribing")
    }
    var request = Livekit_SignalRequest()
    request.subscription.trackSids = [trackSid]
    request.subscription.subscribe = subscribed
    signal.send(request)
  }
}

// MARK: - Participants and tracks

extension RoomEngine {
  private func update(_ info: Livekit_Room) {
    room.state.withLock { state in
      state.sid = info.sid
      state.name = info.name
      state.metadata = info.metadata
    }
  }

  private func update(_ info: Livekit_ParticipantInfo) async {
    if info.sid == room.localParticipant.sid { return room.localParticipant.info.withLock { $0 = .init(info) } }
    if info.state == .disconnected { return remove(info) }
    addOrUpdate(info)
    await matchTracks()
  }

  private func addOrUpdate(_ info: Livekit_ParticipantInfo) {
    let known = room.remoteParticipants[info.identity]
    if let known, known.sid != info.sid { remove(known) }
    let participant = room.remoteParticipants[info.identity] ?? RemoteParticipant(info: .init(info))
    let isNew = room.state.withLock { state in
      state.participants.updateValue(participant, forKey: info.identity) == nil
    }
    participant.info.withLock { $0 = .init(info) }
    if isNew { room.tell(.participantConnected(participant)) }
    updateTracks(of: participant, info.tracks.map(TrackInfo.init))
  }

  private func updateTracks(of participant: RemoteParticipant, _ tracks: [TrackInfo]) {
    let published = Set(tracks.map(\.sid))
    for sid in participant.trackPublications.keys where !published.contains(sid) { unpublish(sid, of: participant) }
    for info in tracks {
      guard let publication = participant.publication(sid: info.sid) else {
        let publication = RemoteTrackPublication(info: info, isWanted: autoSubscribe, requests: self)
        participant.insert(publication)
        room.tell(.trackPublished(participant, publication))
        continue
      }
      let wasMuted = publication.isMuted
      publication.info.withLock { $0 = info }
      publication.track?.state.withLock { $0.isMuted = info.isMuted }
      if wasMuted != info.isMuted { room.tell(.muteChanged(participant, publication, isMuted: info.isMuted)) }
    }
  }

  private func remove(_ info: Livekit_ParticipantInfo) {
    if let participant = room.remoteParticipants.values.first(where: { $0.sid == info.sid }) { remove(participant) }
  }

  private func remove(_ participant: RemoteParticipant) {
    removeTracks(of: participant)
    guard let identity = participant.identity else { return }
    room.state.withLock { _ = $0.participants.removeValue(forKey: identity) }
    room.tell(.participantDisconnected(participant))
  }

  private func removeTracks(of participant: RemoteParticipant) {
    for sid in participant.trackPublications.keys { unpublish(sid, of: participant) }
  }

  private func unpublish(_ sid: String, of participant: RemoteParticipant) {
    guard let publication = participant.publication(sid: sid) else { return }
    unsubscribe(publication, of: participant)
    _ = participant.remove(sid: sid)
    room.tell(.trackUnpublished(participant, publication))
  }

  private func unsubscribe(_ publication: RemoteTrackPublication, of participant: RemoteParticipant) {
    guard let track = publication.track else { return }
    publication.subscription.withLock { subscription in
      subscription.lastTrack = track
      subscription.track = nil
    }
    track.state.withLock { $0.trackState = .stopped }
    logger.debug("track unsubscribed", metadata: ["track": "\(publication.sid)"])
    room.tell(.trackUnsubscribed(participant, publication))
  }

  /// Brings together what signalling says is published and what the description says is sent, whichever came first.
  private func matchTracks() async {
    let media = await subscriber?.media ?? [:]
    for participant in room.remoteParticipants.values {
      for publication in participant.trackPublications.values {
        match(publication, of: participant, media[publication.sid])
      }
    }
  }

  private func match(_ publication: RemoteTrackPublication, of participant: RemoteParticipant, _ media: TrackMedia?) {
    guard let media else { return unsubscribe(publication, of: participant) }
    if let track = publication.track {
      guard track.incoming !== media else { return }
      unsubscribe(publication, of: participant)
    }
    let info = publication.info.withLock { $0 }
    let track: Track =
      media.isVideo ? RemoteVideoTrack(media: media, info: info) : RemoteAudioTrack(media: media, info: info)
    track.state.withLock { $0.trackState = .started }
    publication.subscription.withLock { $0.track = track }
    logger.debug(
      "track subscribed",
      metadata: [
        "participant": "\(participant.identity ?? participant.sid)", "track": "\(publication.sid)",
        "codec": "\(media.codec)",
      ])
    room.tell(.trackSubscribed(participant, publication))
  }

  private var publishedCodecs: [String: [String]] {
    let publications = room.remoteParticipants.values.flatMap { $0.trackPublications.values }
    return Dictionary(publications.map { ($0.sid, $0.info.withLock { $0.mimeTypes }) }) { _, newest in newest }
  }

  private func find(_ sid: String) -> (RemoteParticipant, RemoteTrackPublication)? {
    for participant in room.remoteParticipants.values {
      if let publication = participant.publication(sid: sid) { return (participant, publication) }
    }
    return nil
  }

  private func setMuted(_ isMuted: Bool, trackSid: String) {
    guard let (participant, publication) = find(trackSid), publication.isMuted != isMuted else { return }
    publication.info.withLock { $0.isMuted = isMuted }
    publication.track?.state.withLock { $0.isMuted = isMuted }
    room.tell(.muteChanged(participant, publication, isMuted: isMuted))
  }

  private func update(_ info: Livekit_StreamStateInfo) {
    guard let (participant, publication) = find(info.trackSid) else { return }
    let state: StreamState = info.state == .active ? .active : .paused
    publication.subscription.withLock { $0.streamState = state }
    room.tell(.streamStateChanged(participant, publication, state))
  }

  private func update(_ info: Livekit_SubscriptionPermissionUpdate) {
    guard let (participant, publication) = find(info.trackSid) else { return }
    publication.subscription.withLock { $0.isAllowed = info.allowed }
    room.tell(.subscriptionAllowedChanged(participant, publication, isAllowed: info.allowed))
  }

  private func subscriptionFailed(_ response: Livekit_SubscriptionResponse) {
    guard let (participant, _) = find(response.trackSid) else { return }
    let error =
      response.err == .seCodecUnsupported
      ? LiveKitError(.unsupportedCodec, "the server cannot send track \(response.trackSid) in a codec known here")
      : LiveKitError(.invalidParameter, "the server does not know track \(response.trackSid)")
    room.tell(.subscriptionFailed(participant, trackSid: response.trackSid, error))
  }

  private func receive(_ message: [UInt8]) {
    guard let packet = try? Livekit_DataPacket(serializedBytes: message), packet.hasUser else { return }
    let identity = packet.participantIdentity.isEmpty ? packet.user.participantIdentity : packet.participantIdentity
    room.tell(
      .dataReceived(room.remoteParticipants[identity], packet.user.payload, topic: packet.user.topic))
  }
}
