import LiveKitProtocol
import Logging
import MediaCore
import PeerTransport
import RTP
import SDP

/// The connection on which a client publishes: it offers, we answer. Lives on the server's loop.
///
/// It is the primary one of who may receive nothing, and then has what others say, too.
final class PublisherSession {
  private unowned let participant: DevParticipant
  private let loop: TransportLoop
  private let configuration: DevServerConfiguration
  let watch: TransportWatch
  private var peer: PeerConnection?
  /// Held here, since a peer holds its delegate weakly.
  private var observer: PeerObserver?
  private var negotiator: Negotiator?
  private var candidates = PendingCandidates()
  private var streams = UpStreams()
  private var arrivals = ArrivalFeedback(sender: SSRC(1))
  private var speech = SpeechNews(at: .now)
  private var gate = MessageGate()
  /// Announced under the id of a track that is there.
  private var queued: [Livekit_AddTrackRequest] = []
  private var ticker: LoopTimer?

  /// As the room was told last.
  var isSpeaking: Bool { speech.isSpeaking }

  /// Without those that are another one's other codec.
  var tracks: [PublishedTrack] { streams.tracks.filter { !$0.isBackup } }

  init(participant: DevParticipant, loop: TransportLoop, configuration: DevServerConfiguration) {
    self.participant = participant
    self.loop = loop
    self.configuration = configuration
    watch = TransportWatch(participant: participant, loop: loop)
  }

  func end() -> PeerConnection? {
    ticker?.cancel()
    watch.end()
    defer { peer = nil }
    return peer
  }

  // MARK: Signalling

  func add(_ request: Livekit_AddTrackRequest) {
    guard participant.mayPublish(request.source) else { return refuse(request, .notAllowed) }
    guard !streams.tracks.contains(where: { $0.cid == request.cid }) else {
      queued.append(request)
      return refuse(request, .queued)
    }
    let track = PublishedTrack(request: request)
    var known = track
    if track.isBackup {
      guard let first = tracks.first(where: { $0.sid == track.sid }) else { return }
      first.backup = track
      known = first
    }
    track.onBackupNeeded = { [weak self, weak track] in
      if let track { self?.tellWanted(of: track) }
    }
    streams.tracks.append(track)
    answer(request, with: known)
  }

  /// As LiveKit's server, which never answers what is queued behind a track that was not sent yet.
  private func addQueued() {
    let free = queued.filter { request in !streams.tracks.contains { $0.cid == request.cid } }
    queued.removeAll(where: free.contains)
    for request in free { add(request) }
  }

  private func refuse(_ request: Livekit_AddTrackRequest, _ reason: Livekit_RequestResponse.Reason) {
    var response = Livekit_SignalResponse()
    response.requestResponse.reason = reason
    response.requestResponse.addTrack = request
    participant.send(response)
  }

  private func answer(_ request: Livekit_AddTrackRequest, with track: PublishedTrack) {
    var response = Livekit_SignalResponse()
    response.trackPublished.cid = request.cid
    response.trackPublished.track = track.info
    participant.send(response)
  }

  /// Somebody cannot decode what a publisher sends first: its other codec is wanted, and the first one unless that has
  /// replaced it.
  private func tellWanted(of track: PublishedTrack) {
    var response = Livekit_SignalResponse()
    response.subscribedQualityUpdate.trackSid = track.sid
    response.subscribedQualityUpdate.subscribedCodecs = [
      Self.wanted(track.preferredCodec, isWanted: !track.isReplaced), Self.wanted(track.backupCodec, isWanted: true),
    ]
    participant.send(response)
  }

  /// - Parameter isWanted: whether all layers are, or none.
  private static func wanted(_ name: String, isWanted: Bool) -> Livekit_SubscribedCodec {
    var codec = Livekit_SubscribedCodec()
    codec.codec = name
    codec.qualities = [Livekit_VideoQuality.low, .medium, .high].map { quality in
      var subscribed = Livekit_SubscribedQuality()
      (subscribed.quality, subscribed.enabled) = (quality, isWanted)
      return subscribed
    }
    return codec
  }

  func setMuted(_ isMuted: Bool, trackSid: String) {
    guard let track = tracks.first(where: { $0.sid == trackSid }) else {
      var response = Livekit_SignalResponse()
      response.requestResponse.reason = .notFound
      response.requestResponse.message = "there is no track \(trackSid) to be muted"
      return participant.send(response)
    }
    guard track.setMuted(isMuted, at: .now), track.isFlowing else { return }
    participant.room.announce(participant)
  }

  func resize(_ update: Livekit_UpdateLocalVideoTrack) {
    guard let track = tracks.first(where: { $0.sid == update.trackSid && $0.isVideo }) else { return }
    (track.info.width, track.info.height) = (update.width, update.height)
    if track.isFlowing { participant.room.announce(participant) }
  }

  func receive(offer message: Livekit_SessionDescription) {
    guard var offer = try? SessionDescription(parsing: message.sdp), let remote = TransportParameters(offer),
      let peer = peer ?? makePeer(),
      let local = peer.localParametersOnLoop(answering: remote, setup: .passive),
      let transport = local.localTransport(preferring: .passive)
    else { return }
    preferCodecs(in: &offer)
    var negotiator = self.negotiator ?? Negotiator(sessionID: .random(in: 1..<(1 << 62)), transport: transport)
    negotiator.transport = transport
    let answer = negotiator.answer(offer, capabilities: .server(takesOrientation: configuration.passesOrientation))
    self.negotiator = negotiator
    streams.sections = answer.sections
    arrivals.extensionID = streams.extensionID(HeaderExtensionURI.transportCC)
    for track in streams.removeEnded(in: offer) where !track.isBackup {
      participant.room.trackEnded(track, of: participant)
    }
    addQueued()
    streams.registerAnnounced()
    peer.connect(to: remote, isDTLSClient: remote.setup == .passive)
    for candidate in candidates.described(with: offer.media.flatMap(\.candidates)) {
      peer.add(remoteCandidate: candidate)
    }
    reply(with: answer.description, id: message.id)
    beginMuted()
  }

  func add(_ candidate: String) {
    if candidates.isReady(candidate) { peer?.add(remoteCandidate: candidate) }
  }

  private func reply(with answer: SessionDescription, id: UInt32) {
    var response = Livekit_SignalResponse()
    response.answer.type = "answer"
    response.answer.sdp = answer.description
    response.answer.id = id
    participant.send(response)
  }

  /// The codec that the client announced for a track goes first, since a client sends the answer's first one.
  private func preferCodecs(in offer: inout SessionDescription) {
    for index in offer.media.indices {
      guard let cid = offer.media[index].msid?.track, let track = streams.tracks.first(where: { $0.cid == cid }),
        !track.preferredCodec.isEmpty
      else { continue }
      let preferred = offer.media[index].codecs.filter { $0.isNamed(track.preferredCodec) }
      let numbers = Set(preferred.map(\.payloadType))
      let inside = Set(preferred.flatMap(\.redundantPayloadTypes))
      let others = offer.media[index].codecs.filter { codec in
        inside.contains(codec.payloadType) || codec.associatedPayloadType.map(numbers.contains) == true
      }
      if !preferred.isEmpty { offer.media[index].codecs = preferred + others }
    }
  }

  // MARK: Transport

  private func makePeer() -> PeerConnection? {
    var peerConfiguration = PeerConfiguration(isControlling: false, logger: configuration.logger)
    peerConfiguration.localAddresses = configuration.mediaAddresses
    var handlers = PeerObserver.Handlers()
    handlers.packet = { [weak self] in self?.receive($0, at: $1) }
    handlers.reports = { [weak self] in self?.receive($0, at: $1) }
    handlers.candidate = { [weak self] in self?.trickle($0) }
    handlers.state = { [weak self] in self?.watch.changed($0) }
    handlers.message = { [weak self] in self?.relay($0, on: $1) }
    if !participant.isSubscriberPrimary { handlers.channel = { [weak self] in self?.participant.opened($0) } }
    let observer = PeerObserver(loop: loop, handlers: handlers)
    self.observer = observer
    peer = PeerConnection(loop: loop, configuration: peerConfiguration, delegate: observer)
    if !participant.isSubscriberPrimary { participant.channels.peer = peer }
    tick()
    return peer
  }

  private func trickle(_ candidate: String) {
    var response = Livekit_SignalResponse()
    response.trickle.candidateInit = CandidateInit.text(candidate)
    response.trickle.target = .publisher
    participant.send(response)
  }

  private func relay(_ message: [UInt8], on channel: DataChannel) {
    guard participant.info.permission.canPublishData, !participant.hasLeft,
      let isReliable = MessageChannels.isReliable(channel.label)
    else { return }
    guard message.count <= MessageGate.longest else {
      configuration.logger.info("a message is left out: it is too long", metadata: ["bytes": "\(message.count)"])
      return
    }
    guard let packet = try? Livekit_DataPacket(serializedBytes: message),
      gate.admits(packet, isReliable: isReliable)
    else { return }
    participant.room.relay(packet, from: participant, isReliable: isReliable)
  }

  private func tick() {
    let bound = LoopBound(Weak(self), on: loop)
    ticker = loop.after(.milliseconds(20)) { bound.value.object?.poll() }
  }

  private func poll() {
    let now = MediaTime.now
    for layer in streams.layers { peer?.send(layer.receiver.poll(at: now)) }
    peer?.send(arrivals.poll(at: now))
    if speech.isDue(at: now) { tellSpeech() }
    tick()
  }

  // MARK: Media

  private func receive(_ packet: RTPPacket, at time: MediaTime) {
    let known = streams.stream(of: packet)
    arrivals.note(packet, at: time)
    guard let (track, layer) = known else { return }
    layer.sawPacket(at: time)
    if !track.isVideo { noteLevel(of: packet, track) }
    for packet in layer.receiver.receive(packet, at: time) {
      if !track.isFlowing { started(track, packet) }
      track.forward(packet, from: layer, at: time)
    }
  }

  private func noteLevel(of packet: RTPPacket, _ track: PublishedTrack) {
    guard let id = streams.extensionID(HeaderExtensionURI.audioLevel),
      let level = packet.withHeaderExtension(id, { $0.first }) ?? nil
    else { return }
    track.speech.note(level: level & 0x7f)
  }

  /// Tells the room when this participant begins or ends to speak, and how loud it is meanwhile.
  private func tellSpeech() {
    let levels = tracks.filter { !$0.isVideo }.map { track in
      let level = track.speech.judge()
      return track.info.muted ? 0 : level
    }
    let level = levels.max() ?? 0
    guard speech.isNews(level), !participant.hasLeft else { return }
    var speaker = Livekit_SpeakerInfo()
    speaker.sid = participant.sid
    speaker.level = level
    speaker.active = level > 0
    participant.room.tell(speaker, of: participant)
  }

  private func started(_ track: PublishedTrack, _ packet: RTPPacket) {
    guard let section = section(of: track), let format = section.format(packet.payloadType) else { return }
    begin(track, format.codec, in: section)
  }

  /// Of a muted track no packet comes: it begins with its SSRC in the offer, as any does with LiveKit's server
  /// (`SetFireOnTrackBeforeFirstRTP`).
  private func beginMuted() {
    for track in tracks where track.info.muted && !track.isFlowing && !track.layers.isEmpty {
      guard let section = section(of: track), let codec = section.formats.first?.codec else { continue }
      begin(track, codec, in: section)
    }
  }

  private func section(of track: PublishedTrack) -> NegotiatedSection? {
    streams.sections.first { $0.remoteMsid?.track == track.cid }
  }

  private func begin(_ track: PublishedTrack, _ codec: Codec, in section: NegotiatedSection) {
    guard !participant.hasLeft else { return }
    track.use(codec, in: section)
    track.isFlowing = true
    if track.isBackup { return backupStarted(track) }
    participant.room.trackStarted(track, of: participant)
  }

  private func backupStarted(_ backup: PublishedTrack) {
    if let first = tracks.first(where: { $0.backup === backup }) {
      first.backupStarted(among: participant.room.participants.count)
      if first.isReplaced { tellWanted(of: first) }
    }
    participant.room.backupStarted()
  }

  private func receive(_ reports: [RTCPPacket], at time: MediaTime) {
    for case .senderReport(let report) in reports {
      guard let (track, layer) = streams[report.ssrc] else { continue }
      layer.receiver.receive(report, at: time)
      track.note(report, of: layer, at: time)
    }
  }

  func requestKeyframe(_ layer: UpLayer) { layer.receiver.requestKeyframe() }
}
