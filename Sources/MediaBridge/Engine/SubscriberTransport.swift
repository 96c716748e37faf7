import LiveKitProtocol
import MediaCore
import PeerTransport
import RTP
import SDP

/// The connection on which the server sends media: it offers, we answer.
actor SubscriberTransport {
  /// What is told to the engine, from the transport's thread.
  struct Handlers: Sendable {
    var candidate: @Sendable (String) -> Void
    var state: @Sendable (PeerState) -> Void
    var data: @Sendable ([UInt8]) -> Void
  }

  private let loop = TransportLoop(name: "mediabridge-rtc")
  private let core: LoopBound<SubscriberCore>
  private let observer: PeerObserver
  private let peer: PeerConnection
  private let factory: PipelineFactory
  private let latency: Int?
  private var negotiator: Negotiator?
  private var clocks: [String: ParticipantClock] = [:]
  private(set) var media: [String: TrackMedia] = [:]
  private var isRemoteKnown = false
  private var waitingCandidates: [String] = []

  init(
    servers: [PeerTransport.ICEServer], localAddresses: [String], timeout: Duration, factory: PipelineFactory,
    latency: Int?, handlers: Handlers
  ) {
    self.factory = factory
    self.latency = latency
    var configuration = PeerConfiguration(isControlling: false)
    configuration.iceServers = servers
    configuration.localAddresses = localAddresses
    configuration.connectTimeout = timeout
    let core = LoopBound(SubscriberCore(loop: loop), on: loop)
    self.core = core
    var events = PeerObserver.Handlers()
    events.packet = { core.value.receive($0, at: $1) }
    events.reports = { core.value.receive($0, at: $1) }
    events.candidate = handlers.candidate
    events.state = handlers.state
    events.message = { message, _ in handlers.data(message) }
    observer = PeerObserver(loop: loop, handlers: events)
    peer = PeerConnection(loop: loop, configuration: configuration, delegate: observer)
    let peer = peer
    loop.run { core.value.peer = peer }
  }

  /// Takes an offer and makes the answer.
  /// - Parameter mids: which track a section carries, where the server says it apart from the description.
  /// - Returns: nil for an offer that cannot be used.
  func answer(_ text: String, mids: [String: String]) async throws(LiveKitError) -> String {
    let offer: SDP.SessionDescription
    do { offer = try SessionDescription(parsing: text) } catch {
      throw LiveKitError(.network, "the server's offer cannot be read: \(error)")
    }
    guard let remote = TransportParameters(offer), let local = await peer.localParameters(setup: .active),
      let transport = local.localTransport(preferring: .active)
    else { throw LiveKitError(.network, "the server's offer has no usable transport") }
    var negotiator = negotiator ?? Negotiator(sessionID: .random(in: 1..<(1 << 62)), transport: transport)
    negotiator.transport = transport
    let answer = negotiator.answer(offer, capabilities: .subscriber)
    self.negotiator = negotiator
    await update(answer.sections, mids)
    // The answer's setup is active unless the offer insisted on that role itself.
    peer.connect(to: remote, isDTLSClient: remote.setup != .active)
    isRemoteKnown = true
    for candidate in offer.media.flatMap(\.candidates) + waitingCandidates { peer.add(remoteCandidate: candidate) }
    waitingCandidates = []
    return answer.description.description
  }

  func add(_ candidate: String) {
    if isRemoteKnown { peer.add(remoteCandidate: candidate) } else { waitingCandidates.append(candidate) }
  }

  private func update(_ sections: [NegotiatedSection], _ mids: [String: String]) async {
    var live: [(section: NegotiatedSection, trackSid: String)] = []
    var new: [TrackReception] = []
    for section in sections where section.isAccepted && section.direction.receives && section.kind != .application {
      guard let sid = Self.trackSid(of: section, mids) else { continue }
      live.append((section, sid))
      if media[sid] == nil { new.append(add(section, sid)) }
    }
    let sids = Set(live.map(\.trackSid))
    for (sid, track) in media where !sids.contains(sid) {
      media[sid] = nil
      await track.close()
    }
    let update = Handover((live, new))
    await loop.call { [core] in core.value.update(update.value.0, update.value.1) }
  }

  /// The SID is the track id of the msid; some servers repeat it by mid.
  private static func trackSid(of section: NegotiatedSection, _ mids: [String: String]) -> String? {
    if let sid = mids[section.mid], !sid.isEmpty { return sid }
    guard let track = section.remoteMsid?.track, track.hasPrefix("TR_") else {
      // `PARTICIPANT_SID|TRACK_SID` as the stream's id.
      return section.remoteMsid?.stream.split(separator: "|").last.map(String.init)
    }
    return track
  }

  private func add(_ section: NegotiatedSection, _ sid: String) -> TrackReception {
    let participant = section.remoteMsid?.stream.split(separator: "|").first.map(String.init) ?? sid
    let clock = clocks[participant] ?? ParticipantClock()
    clocks[participant] = clock
    let format = section.formats.first { !$0.codec.isRED }
    let codec = format?.codec.name ?? ""
    let clockRate = format?.codec.clockRate ?? 90_000
    let reception = TrackReception(
      trackSid: sid, codec: codec, isVideo: section.kind == .video, clock: clock,
      configuration: RTPReceiver.Configuration(section))
    media[sid] = TrackMedia(
      trackSid: sid, codec: codec, isVideo: section.kind == .video,
      payloadType: format?.payloadType ?? PayloadType(0), clockRate: clockRate, loop: loop, clock: clock,
      reception: LoopBound(reception, on: loop), factory: factory, latency: latency)
    return reception
  }

  /// Closes everything; nothing is left when it returns.
  func close() async {
    for track in media.values { await track.close() }
    media = [:]
    await peer.close()
    await loop.call { [core] in core.value.stop() }
    await loop.stop()
  }
}

/// `@unchecked Sendable`: hands a fresh object over to the loop; the sender does not touch it any more.
private struct Handover<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}

extension RTPReceiver.Configuration {
  /// The first stream of a negotiated section.
  fileprivate init(_ section: NegotiatedSection) {
    var formats: [PayloadType: RTPReceiver.Format] = [:]
    for format in section.formats {
      formats[format.payloadType] =
        format.codec.isRED
        ? .redundant : VideoCodec(encodingName: format.codec.name).map(RTPReceiver.Format.video) ?? .media
      if let repair = format.rtx { formats[repair] = .retransmission(of: format.payloadType) }
    }
    let pair = section.remoteSourceGroups.first { $0.semantics == "FID" && $0.ssrcs.count == 2 }
    let ssrc = pair?.ssrcs[0] ?? section.remoteSources.first?.ssrc
    let codec = section.formats.first { !$0.codec.isRED }?.codec
    self.init(
      ssrc: ssrc, rtxSSRC: pair?.ssrcs[1], clockRate: codec?.clockRate ?? 90_000, formats: formats,
      usesNACK: section.kind == .video)
  }
}
