import LiveKitProtocol
import MediaCore
import PeerTransport
import RTP
import SDP

/// The connection on which a client publishes: it offers, we answer. Lives on the server's loop.
final class PublisherSession {
  private unowned let participant: DevParticipant
  private let loop: TransportLoop
  private let configuration: DevServerConfiguration
  private var peer: PeerConnection?
  private var negotiator: Negotiator?
  private var sections: [NegotiatedSection] = []
  private var streams: [SSRC: (track: PublishedTrack, layer: UpLayer)] = [:]
  private var feedback = TransportFeedbackRecorder(sender: SSRC(1))
  private var pendingCandidates: [String] = []
  private var lossy: DataChannel?
  private var ticker: LoopTimer?
  private(set) var tracks: [PublishedTrack] = []

  init(participant: DevParticipant, loop: TransportLoop, configuration: DevServerConfiguration) {
    self.participant = participant
    self.loop = loop
    self.configuration = configuration
  }

  func end() -> PeerConnection? {
    ticker?.cancel()
    defer { peer = nil }
    return peer
  }

  // MARK: Signalling

  func add(_ request: Livekit_AddTrackRequest) {
    guard participant.info.permission.canPublish else { return }
    let track = PublishedTrack(request: request)
    tracks.append(track)
    var response = Livekit_SignalResponse()
    response.trackPublished.cid = request.cid
    response.trackPublished.track = track.info
    participant.send(response)
  }

  func setMuted(_ isMuted: Bool, trackSid: String) {
    guard let track = tracks.first(where: { $0.sid == trackSid }), track.info.muted != isMuted else { return }
    track.info.muted = isMuted
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
    sections = answer.sections
    endRemovedTracks(in: offer)
    registerAnnouncedStreams()
    peer.connect(to: remote, isDTLSClient: remote.setup == .passive)
    for candidate in offer.media.flatMap(\.candidates) + pendingCandidates { peer.add(remoteCandidate: candidate) }
    pendingCandidates = []
    reply(with: answer.description, id: message.id)
  }

  func add(_ candidate: String) {
    if let peer {
      peer.add(remoteCandidate: candidate)
    } else {
      pendingCandidates.append(candidate)
    }
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
      guard let cid = offer.media[index].msid?.track, let track = tracks.first(where: { $0.cid == cid }),
        !track.preferredCodec.isEmpty
      else { continue }
      let preferred = offer.media[index].codecs.filter { $0.isNamed(track.preferredCodec) }
      let numbers = Set(preferred.map(\.payloadType))
      let repairs = offer.media[index].codecs.filter { $0.associatedPayloadType.map(numbers.contains) == true }
      if !preferred.isEmpty { offer.media[index].codecs = preferred + repairs }
    }
  }

  /// A track whose section no longer sends is unpublished.
  private func endRemovedTracks(in offer: SessionDescription) {
    let sending = Set(offer.media.filter { $0.direction.sends && !$0.isRejected }.compactMap { $0.msid?.track })
    for track in tracks where track.isFlowing && !sending.contains(track.cid) {
      tracks.removeAll { $0 === track }
      streams = streams.filter { $0.value.track !== track }
      participant.room.trackEnded(track, of: participant)
    }
  }

  // MARK: Transport

  private func makePeer() -> PeerConnection? {
    var peerConfiguration = PeerConfiguration(isControlling: false)
    peerConfiguration.localAddresses = [configuration.host]
    var handlers = PeerObserver.Handlers()
    handlers.packet = { [weak self] in self?.receive($0, at: $1) }
    handlers.reports = { [weak self] in self?.receive($0, at: $1) }
    handlers.candidate = { [weak self] in self?.trickle($0) }
    handlers.message = { [weak self] in self?.relay($0, on: $1) }
    let observer = PeerObserver(loop: loop, handlers: handlers)
    self.observer = observer
    peer = PeerConnection(loop: loop, configuration: peerConfiguration, delegate: observer)
    tick()
    return peer
  }
  /// Held here, since a peer holds its delegate weakly.
  private var observer: PeerObserver?
  private var isSpeaking = false
  private var nextSpeech = MediaTime.now + SpeechDetector.interval

  private func trickle(_ candidate: String) {
    var response = Livekit_SignalResponse()
    response.trickle.candidateInit = CandidateInit.text(candidate)
    response.trickle.target = .publisher
    participant.send(response)
  }

  private func relay(_ message: [UInt8], on channel: DataChannel) {
    guard participant.info.permission.canPublishData,
      let packet = try? Livekit_DataPacket(serializedBytes: message)
    else { return }
    participant.room.relay(packet, from: participant, isReliable: channel.label == "_reliable")
  }

  private func tick() {
    let bound = LoopBound(Weak(self), on: loop)
    ticker = loop.after(.milliseconds(20)) { bound.value.object?.poll() }
  }

  private func poll() {
    let now = MediaTime.now
    for (ssrc, stream) in streams where ssrc == stream.layer.ssrc {
      peer?.send(stream.layer.receiver.poll(at: now))
    }
    peer?.send(feedback.poll(at: now))
    if speechIsDue(at: now) { tellSpeech() }
    tick()
  }

  // MARK: Media

  private func receive(_ packet: RTPPacket, at time: MediaTime) {
    let known = streams[packet.ssrc] ?? identify(packet)
    recordArrival(of: packet, at: time)
    guard let (track, layer) = known else { return }
    layer.sawPacket(at: time)
    if !track.isVideo { noteLevel(of: packet, track) }
    for packet in layer.receiver.receive(packet, at: time) {
      if !track.isFlowing { started(track, packet) }
      track.forward(packet, from: layer, at: time)
    }
  }

  /// Of whichever section has it: a client numbers an extension alike in all.
  private func extensionID(_ uri: String) -> UInt8? {
    sections.lazy.compactMap { $0.extensionID(uri) }.first
  }

  private func recordArrival(of packet: RTPPacket, at time: MediaTime) {
    guard let id = extensionID(HeaderExtensionURI.transportCC),
      let number = packet.withHeaderExtension(
        id,
        { bytes -> UInt16? in
          bytes.count >= 2 ? UInt16(bytes[0]) << 8 | UInt16(bytes[1]) : nil
        }) ?? nil
    else { return }
    feedback.record(SequenceNumber(number), media: packet.ssrc, at: time)
  }

  private func noteLevel(of packet: RTPPacket, _ track: PublishedTrack) {
    guard let id = extensionID(HeaderExtensionURI.audioLevel),
      let level = packet.withHeaderExtension(id, { $0.first }) ?? nil
    else { return }
    track.speech.note(level: level & 0x7f)
  }

  private func speechIsDue(at time: MediaTime) -> Bool {
    guard time >= nextSpeech else { return false }
    nextSpeech = time + SpeechDetector.interval
    return true
  }

  /// Tells the room when this participant begins or ends to speak, and how loud it is meanwhile.
  private func tellSpeech() {
    let levels = tracks.filter { !$0.isVideo }.map { track in
      let level = track.speech.judge()
      return track.info.muted ? 0 : level
    }
    var speaker = Livekit_SpeakerInfo()
    speaker.sid = participant.sid
    speaker.level = levels.max() ?? 0
    speaker.active = speaker.level > 0
    guard speaker.active || isSpeaking else { return }
    isSpeaking = speaker.active
    participant.room.tell(speakers: [speaker])
  }

  private func started(_ track: PublishedTrack, _ packet: RTPPacket) {
    guard let section = sections.first(where: { $0.remoteMsid?.track == track.cid }),
      let format = section.format(packet.payloadType)
    else { return }
    track.use(format.codec, in: section)
    track.isFlowing = true
    participant.room.trackStarted(track, of: participant)
  }

  private func receive(_ reports: [RTCPPacket], at time: MediaTime) {
    for case .senderReport(let report) in reports {
      guard let (track, layer) = streams[report.ssrc] else { continue }
      layer.receiver.receive(report, at: time)
      track.forward(report, from: layer, at: time)
    }
  }

  func requestKeyframe(_ layer: UpLayer) { layer.receiver.requestKeyframe() }
}

// MARK: - Which stream is what

extension PublisherSession {
  /// Streams that the description announces by SSRC.
  private func registerAnnouncedStreams() {
    for section in sections where section.isAccepted {
      guard let track = track(of: section) else { continue }
      let groups = section.remoteSourceGroups
      let repair = groups.filter { $0.semantics == "FID" && $0.ssrcs.count == 2 }
      let repairs = Set(repair.map { $0.ssrcs[1] })
      let layers =
        groups.first { $0.semantics == "SIM" }?.ssrcs
        ?? section.remoteSources.map(\.ssrc).filter { !repairs.contains($0) }.prefix(1).map { $0 }
      for (index, ssrc) in layers.enumerated() where section.remoteRids.isEmpty && streams[ssrc] == nil {
        register(track, section, index: index, ssrc: ssrc, rtx: repair.first { $0.ssrcs[0] == ssrc }?.ssrcs[1])
      }
    }
  }

  private func track(of section: NegotiatedSection) -> PublishedTrack? {
    section.remoteMsid?.track.flatMap { cid in tracks.first { $0.cid == cid } }
  }

  @discardableResult
  private func register(
    _ track: PublishedTrack, _ section: NegotiatedSection, index: Int, ssrc: SSRC, rtx: SSRC?
  ) -> UpLayer {
    let layer = track.layer(index) {
      UpLayer(index: index, ssrc: ssrc, receiver: RTPReceiver(configuration: .init(section, ssrc: ssrc, rtx: rtx)))
    }
    streams[ssrc] = (track, layer)
    if let rtx { streams[rtx] = (track, layer) }
    return layer
  }

  /// A stream that only its header extensions identify (RFC 8843, 9.2; RFC 8852).
  private func identify(_ packet: RTPPacket) -> (track: PublishedTrack, layer: UpLayer)? {
    func text(_ uri: String, _ section: NegotiatedSection) -> String? {
      guard let id = section.extensionID(uri) else { return nil }
      return packet.withHeaderExtension(id) { String(decoding: $0, as: UTF8.self) }
    }
    let section = sections.first { $0.isAccepted && text(HeaderExtensionURI.mid, $0) == $0.mid }
    guard let section, let track = track(of: section) else { return nil }
    if let rid = text(HeaderExtensionURI.repairedRTPStreamID, section) {
      guard let index = layerIndex(rid, section), let layer = track.layers.first(where: { $0.index == index }) else {
        return nil
      }
      layer.receiver.rtxSSRC = packet.ssrc
      streams[packet.ssrc] = (track, layer)
      return (track, layer)
    }
    let rid = text(HeaderExtensionURI.rtpStreamID, section)
    guard let index = rid.map({ layerIndex($0, section) }) ?? 0 else { return nil }
    return (track, register(track, section, index: index, ssrc: packet.ssrc, rtx: nil))
  }

  private func layerIndex(_ rid: String, _ section: NegotiatedSection) -> Int? {
    guard let index = PublishedTrack.rids.firstIndex(of: rid) else { return section.remoteRids.firstIndex(of: rid) }
    return min(index, max(0, section.remoteRids.count - 1))
  }
}
