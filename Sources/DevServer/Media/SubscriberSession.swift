import LiveKitProtocol
import MediaCore
import PeerTransport
import RTP
import SDP

/// The connection on which a client is sent media: we offer, it answers. Lives on the server's loop.
///
/// Its data channels are opened with the first offer. Who may receive nothing is offered nothing.
final class SubscriberSession {
  private unowned let participant: DevParticipant
  private let loop: TransportLoop
  private let configuration: DevServerConfiguration
  let watch: TransportWatch
  private var peer: PeerConnection?
  private var observer: PeerObserver?
  private var negotiation = Negotiation()
  private var downTracks: [DownTrack] = []
  /// What is known of the client's tracks, by SID.
  private var subscriptions: [String: Subscription] = [:]
  private var isConnected = false
  /// Candidates of a restart, which go out behind its offer, as with LiveKit's server.
  private var held: [String]?
  private var ticker: LoopTimer?
  private var nextReports = MediaTime.now

  /// Between the sender reports of all tracks, as of a LiveKit server (`subscriberRTCPWorker`).
  private static let reportInterval = Duration.seconds(3)

  private struct Subscription {
    /// Of a track that is asked for: whether its publisher allows it, as the client was told.
    var isAllowed: Bool?
    /// As the client wants it, which it may say before the track is sent.
    var settings: Livekit_UpdateTrackSettings?
  }

  /// What was offered, and what came of it.
  private struct Negotiation {
    var negotiator: Negotiator?
    /// Of the newest answer.
    private(set) var sections: [NegotiatedSection] = []
    /// SIDs of the tracks in the newest offer, and in the newest that was answered.
    private var offered: Set<String> = []
    private(set) var answered: Set<String> = []
    private var count: UInt32 = 0

    /// - Returns: what is to be offered, with which track each section carries.
    mutating func offer(_ tracks: [DownTrack]) -> Livekit_SessionDescription? {
      guard let description = negotiator?.makeOffer() else { return nil }
      offered = Set(tracks.map(\.track.sid))
      count += 1
      var offer = Livekit_SessionDescription()
      (offer.type, offer.sdp, offer.id) = ("offer", description.description, count)
      for downTrack in tracks { offer.midToTrackID[downTrack.mid] = downTrack.track.sid }
      return offer
    }

    /// - Parameter id: of the offer that is answered; 0 where the client does not say.
    /// - Returns: whether it is an answer, and to the newest offer.
    mutating func accept(_ answer: SessionDescription, id: UInt32) -> Bool {
      guard [0, count].contains(id), let sections = try? negotiator?.accept(answer) else { return false }
      (self.sections, answered) = (sections, offered)
      return true
    }
  }

  init(participant: DevParticipant, loop: TransportLoop, configuration: DevServerConfiguration) {
    self.participant = participant
    self.loop = loop
    self.configuration = configuration
    watch = TransportWatch(participant: participant, loop: loop)
  }

  func end() -> PeerConnection? {
    ticker?.cancel()
    watch.end()
    for downTrack in downTracks { downTrack.detach() }
    downTracks = []
    defer { peer = nil }
    return peer
  }

  // MARK: Signalling

  /// Makes the first offer. As a LiveKit server's, it has the tracks that are there already, and the data channels last.
  func start(with tracks: [(track: PublishedTrack, publisher: DevParticipant)]) {
    var peerConfiguration = PeerConfiguration(isControlling: true, logger: configuration.logger)
    peerConfiguration.localAddresses = configuration.mediaAddresses
    var handlers = PeerObserver.Handlers()
    handlers.reports = { [weak self] in self?.receive($0, at: $1) }
    handlers.candidate = { [weak self] in self?.trickle($0) }
    handlers.channel = { [weak self] in self?.participant.opened($0) }
    handlers.state = { [weak self] in self?.changed($0) }
    let observer = PeerObserver(loop: loop, handlers: handlers)
    let peer = PeerConnection(loop: loop, configuration: peerConfiguration, delegate: observer)
    self.observer = observer
    self.peer = peer
    participant.channels.peer = peer
    guard let local = peer.localParametersOnLoop(setup: .actpass),
      let transport = local.localTransport(preferring: .actpass)
    else { return }
    peer.openDataChannel(label: "_reliable")
    peer.openDataChannel(label: "_lossy", isOrdered: false, maxRetransmits: 0)
    var negotiator = Negotiator(sessionID: .random(in: 1..<(1 << 62)), transport: transport)
    negotiator.style = .pion
    negotiation.negotiator = negotiator
    for (track, publisher) in tracks { _ = add(track, of: publisher) }
    negotiation.negotiator?.addDataChannels()
    offer()
    tick()
  }

  private func changed(_ state: PeerState) {
    watch.changed(state)
    guard state == .connected, !isConnected else { return }
    isConnected = true
    startTracks()
  }

  private func offer() {
    guard let offer = negotiation.offer(downTracks) else { return }
    var response = Livekit_SignalResponse()
    response.offer = offer
    participant.send(response)
  }

  /// Offers the same again with new credentials, so that both sides look for a way anew.
  func restartICE() {
    guard let peer else { return }
    held = []
    defer {
      let candidates = held ?? []
      held = nil
      candidates.forEach(trickle)
    }
    peer.restartICE()
    guard let transport = peer.localParametersOnLoop(setup: .actpass)?.localTransport(preferring: .actpass) else {
      return
    }
    // An answer to what was offered last may have been lost.
    negotiation.negotiator?.abandonOffer()
    negotiation.negotiator?.transport = transport
    offer()
  }

  func receive(answer message: Livekit_SessionDescription) {
    guard let answer = try? SessionDescription(parsing: message.sdp), let remote = TransportParameters(answer),
      negotiation.accept(answer, id: message.id)
    else { return }
    // The answer chooses the role: an active peer is the DTLS client, and we are not.
    peer?.connect(to: remote, isDTLSClient: remote.setup == .passive)
    for candidate in answer.media.flatMap(\.candidates) { peer?.add(remoteCandidate: candidate) }
    startTracks()
    if negotiation.negotiator?.needsOffer == true { offer() }
  }

  /// Lets the tracks flow that the client has answered for.
  func startTracks() {
    guard isConnected else { return }
    for downTrack in downTracks where negotiation.answered.contains(downTrack.track.sid) {
      guard let section = negotiation.sections.first(where: { $0.mid == downTrack.mid }) else { continue }
      if !section.isAccepted || !downTrack.start(with: section) { refuse(downTrack) }
    }
  }

  private func refuse(_ downTrack: DownTrack) {
    unsubscribe(from: downTrack.track.sid)
    sendError(.seCodecUnsupported, trackSid: downTrack.track.sid)
  }

  func sendError(_ error: Livekit_SubscriptionError, trackSid: String) {
    var response = Livekit_SignalResponse()
    response.subscriptionResponse.trackSid = trackSid
    response.subscriptionResponse.err = error
    participant.send(response)
  }

  func add(_ candidate: String) { peer?.add(remoteCandidate: candidate) }

  private func trickle(_ candidate: String) {
    if held != nil {
      held?.append(candidate)
      return
    }
    var response = Livekit_SignalResponse()
    response.trickle.candidateInit = CandidateInit.text(candidate)
    response.trickle.target = .subscriber
    participant.send(response)
  }

  // MARK: Subscriptions

  func subscribe(to track: PublishedTrack, of publisher: DevParticipant) {
    if add(track, of: publisher) { offer() }
  }

  private func add(_ track: PublishedTrack, of publisher: DevParticipant) -> Bool {
    guard participant.info.permission.canSubscribe, let codec = track.codec,
      !downTracks.contains(where: { $0.track === track })
    else { return false }
    guard tellWhetherAllowed(track, of: publisher) else { return false }
    let downTrack = DownTrack(
      track: track, publisherSid: publisher.sid, codec: codec, firstLayer: participant.usesAdaptiveStream ? 0 : 2,
      loop: loop, send: { [weak self] in self?.peer?.send($0) })
    if let settings = subscriptions[track.sid]?.settings { downTrack.apply(settings) }
    downTrack.mid = negotiation.negotiator?.add(downTrack.sendingTrack) ?? ""
    downTracks.append(downTrack)
    return true
  }

  /// Whether it is sent anything of that participant.
  func isSubscribed(to publisherSid: String) -> Bool { downTracks.contains { $0.publisherSid == publisherSid } }

  /// Takes a track away that its publisher forbids, and gives back one that it allows again.
  func permissionChanged(for track: PublishedTrack, of publisher: DevParticipant) {
    guard let before = subscriptions[track.sid]?.isAllowed else { return }
    let now = tellWhetherAllowed(track, of: publisher)
    if now && !before { subscribe(to: track, of: publisher) }
    if before && !now { end(track.sid) }
  }

  /// As a LiveKit server does, the client is told also the first time that it may.
  private func tellWhetherAllowed(_ track: PublishedTrack, of publisher: DevParticipant) -> Bool {
    let now = publisher.allows(participant, trackSid: track.sid)
    guard subscriptions[track.sid]?.isAllowed != now else { return now }
    subscriptions[track.sid, default: Subscription()].isAllowed = now
    var response = Livekit_SignalResponse()
    response.subscriptionPermissionUpdate.participantSid = publisher.sid
    response.subscriptionPermissionUpdate.trackSid = track.sid
    response.subscriptionPermissionUpdate.allowed = now
    participant.send(response)
    return now
  }

  func unsubscribe(from sid: String) {
    subscriptions[sid] = nil
    end(sid)
  }

  func unsubscribeAll() { for downTrack in downTracks { unsubscribe(from: downTrack.track.sid) } }

  private func end(_ sid: String) {
    guard let index = downTracks.firstIndex(where: { $0.track.sid == sid }) else { return }
    let downTrack = downTracks.remove(at: index)
    downTrack.detach()
    downTrack.flush()
    negotiation.negotiator?.remove(mid: downTrack.mid)
    offer()
    if !isSubscribed(to: downTrack.publisherSid) { tellSilence(of: downTrack.publisherSid) }
  }

  /// Who is sent nothing of a speaker hears no more of it, so that it is told the end of it now.
  private func tellSilence(of publisherSid: String) {
    guard let publisher = participant.room.participant(sid: publisherSid), !publisher.isHidden,
      publisher.publisher.isSpeaking
    else { return }
    var speaker = Livekit_SpeakerInfo()
    speaker.sid = publisherSid
    var response = Livekit_SignalResponse()
    response.speakersChanged.speakers = [speaker]
    participant.send(response)
  }

  /// What is said of a track before it is sent holds from its beginning on.
  func apply(_ settings: Livekit_UpdateTrackSettings, trackSid: String) {
    guard participant.room.track(sid: trackSid) != nil else { return }
    subscriptions[trackSid, default: Subscription()].settings = settings
    downTracks.first { $0.track.sid == trackSid }?.apply(settings)
  }

  // MARK: Feedback

  private func receive(_ reports: [RTCPPacket], at time: MediaTime) {
    for report in reports {
      for downTrack in downTracks { downTrack.receive(report, at: time) }
    }
  }

  private func tick() {
    let bound = LoopBound(Weak(self), on: loop)
    ticker = loop.after(.milliseconds(100)) { bound.value.object?.poll() }
  }

  private func poll() {
    let now = MediaTime.now
    for downTrack in downTracks {
      // A layer may have come or gone since.
      downTrack.choose(at: now)
    }
    if now >= nextReports { tellClocks(at: now) }
    tick()
  }

  private func tellClocks(at now: MediaTime) {
    nextReports = now + Self.reportInterval
    peer?.send(downTracks.compactMap { $0.report(at: now).map(RTCPPacket.senderReport) })
  }
}
