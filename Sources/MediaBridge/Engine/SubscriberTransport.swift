import LiveKitProtocol
import MediaCore
import MediaPipelines
import PeerTransport
import RTP
import SDP

/// The connection on which the server sends media: it offers, we answer.
actor SubscriberTransport {
  enum Event: Sendable {
    case candidate(String)
    case state(PeerState)
    /// Of a data channel.
    case message([UInt8])
    /// The media of a track stays away, or comes back.
    case stream(trackSid: String, MediaTimeout.Change)
    /// A track has turned out to be something else than expected: `media` is another one.
    case mediaChanged
  }

  /// What happens on the connection, in order; ends when it is closed. For one reader.
  nonisolated let events: AsyncStream<Event>
  private let told: AsyncStream<Event>.Continuation

  private let loop = TransportLoop(name: "mediabridge-rtc")
  private let core: LoopBound<SubscriberCore>
  private let observer: PeerObserver
  private let peer: PeerConnection
  private let factory: PipelineFactory
  private let latency: Int?
  private var negotiator: Negotiator?
  private var clocks: [String: ParticipantClock] = [:]
  private(set) var media: [String: TrackMedia] = [:]
  private var sent: [String: OfferedTrack] = [:]
  /// What the newest answer agreed on, and which track a section carries.
  private var sections: [NegotiatedSection] = []
  private var mids: [String: String] = [:]
  private var isRemoteKnown = false
  private var isClosed = false
  private var waitingCandidates: [String] = []

  init(
    servers: [PeerTransport.ICEServer], localAddresses: [String], timeout: Duration, factory: PipelineFactory,
    latency: Int?, loggers: Loggers
  ) {
    self.factory = factory
    self.latency = latency
    let (events, told) = AsyncStream.makeStream(of: Event.self)
    (self.events, self.told) = (events, told)
    let configuration = PeerConfiguration(
      isControlling: false, servers: servers, localAddresses: localAddresses, timeout: timeout, loggers: loggers)
    let core = LoopBound(SubscriberCore(loop: loop, logger: loggers.tracks), on: loop)
    self.core = core
    var handlers = PeerObserver.Handlers()
    handlers.packet = { core.value.receive($0, at: $1) }
    handlers.reports = { core.value.receive($0, at: $1) }
    handlers.candidate = { told.yield(.candidate($0)) }
    handlers.state = { told.yield(.state($0)) }
    handlers.message = { message, _ in told.yield(.message(message)) }
    observer = PeerObserver(loop: loop, handlers: handlers)
    peer = PeerConnection(loop: loop, configuration: configuration, delegate: observer)
    let peer = peer
    loop.run { core.value.peer = peer }
  }

  /// Takes an offer and makes the answer.
  /// - Parameters:
  ///   - mids: which track a section carries, where the server says it apart from the description.
  ///   - codecs: MIME types of the published tracks by SID, as the server prefers them.
  func answer(
    _ text: String, mids: [String: String], codecs: [String: [String]]
  ) async throws(LiveKitError) -> String {
    let offer: SDP.SessionDescription
    do { offer = try SessionDescription(parsing: text) } catch {
      throw LiveKitError(.network, "the server's offer cannot be read: \(error)", underlying: error)
    }
    guard let remote = TransportParameters(offer),
      let local = await peer.localParameters(answering: remote, setup: .active),
      let transport = local.localTransport(preferring: .active)
    else { throw LiveKitError(.network, "the server's offer has no usable transport") }
    var negotiator = negotiator ?? Negotiator(sessionID: .random(in: 1..<(1 << 62)), transport: transport)
    negotiator.transport = transport
    let answer = negotiator.answer(offer, capabilities: .subscriber)
    self.negotiator = negotiator
    (sections, self.mids) = (answer.sections, mids)
    await learn(codecs: codecs)
    // The answer's setup is active unless the offer insisted on that role itself.
    peer.connect(to: remote, isDTLSClient: remote.setup != .active)
    isRemoteKnown = true
    for candidate in offer.media.flatMap(\.candidates) + waitingCandidates { peer.add(remoteCandidate: candidate) }
    waitingCandidates = []
    return answer.description.description
  }

  /// Begins to receive what is sent in codecs that are known here. What is being received goes on, whatever is said of
  /// it: its packets know better.
  /// - Parameter codecs: as in `answer`; others may be told of later.
  func learn(codecs: [String: [String]]) async {
    await update(
      sections.compactMap { section in
        OfferedTrack(section, mids: mids, codecs: codecs) ?? sent.values.first { $0.goesOn(in: section) }
      })
  }

  func add(_ candidate: String) {
    if isRemoteKnown { peer.add(remoteCandidate: candidate) } else { waitingCandidates.append(candidate) }
  }

  private func update(_ tracks: [OfferedTrack]) async {
    let live = Dictionary(tracks.map { ($0.sid, $0) }) { _, newest in newest }
    for (sid, earlier) in sent where live[sid]?.continues(earlier) != true { await remove(sid) }
    var new: [TrackReception] = []
    for track in live.values where sent[track.sid] == nil { new.append(add(track)) }
    let participants = Set(sent.values.map(\.participant))
    clocks = clocks.filter { participants.contains($0.key) }
    await handOver(new)
  }

  private func handOver(_ new: [TrackReception]) async {
    let update = Handover((sent.values.map { (section: $0.section, trackSid: $0.sid) }, new))
    await loop.call { [core] in core.value.update(update.value.0, update.value.1) }
  }

  private func remove(_ sid: String) async {
    sent[sid] = nil
    await media.removeValue(forKey: sid)?.close()
  }

  private func add(_ track: OfferedTrack) -> TrackReception {
    let clock = clocks[track.participant] ?? ParticipantClock()
    clocks[track.participant] = clock
    let reception = TrackReception(
      track, clock: clock, configuration: RTPReceiver.Configuration(track),
      onOtherCodec: { [weak self] codec in Task { await self?.change(track.sid, to: codec) } },
      onStream: { [told] in told.yield(.stream(trackSid: track.sid, $0)) })
    sent[track.sid] = track
    media[track.sid] = TrackMedia(
      ReceiveSettings(track, clock: clock, factory: factory, latency: latency), clockRate: track.clockRate, loop: loop,
      meter: reception.meter, reception: LoopBound(reception, on: loop))
    return reception
  }

  /// Begins the track anew in the codec that its packets are in: the server's choice differs from what we expected, or
  /// the publisher has changed over to another codec.
  private func change(_ sid: String, to codec: String) async {
    guard let track = sent[sid]?.received(as: codec), media[sid]?.codec != track.codec.lowercased() else { return }
    await remove(sid)
    guard !isClosed else { return }
    await handOver([add(track)])
    told.yield(.mediaChanged)
  }

  /// Whether a track's media is to come: what should and does not is told.
  nonisolated func expect(_ isExpected: Bool, of trackSid: String) {
    loop.run { [core] in core.value.expect(isExpected, of: trackSid) }
  }

  /// The media of a track was told as lost before: its first packet restores it.
  nonisolated func noteLoss(of trackSid: String) { loop.run { [core] in core.value.noteLoss(of: trackSid) } }

  /// From here to the server and back, as it was measured when this was called before; nil where it was not.
  func roundTripTime() async -> Duration? { isClosed ? nil : await peer.measureRoundTrip() }

  /// Closes everything; nothing is left when it returns.
  func close() async {
    isClosed = true
    for track in media.values { await track.close() }
    media = [:]
    await peer.close()
    await loop.call { [core] in core.value.stop() }
    await loop.stop()
    told.finish()
  }
}

/// `@unchecked Sendable`: hands a fresh object over to the loop; the sender does not touch it any more.
private struct Handover<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}

extension OfferedTrack {
  var isVideo: Bool { section.kind == .video }
  var codec: String { format?.codec.name ?? "" }
  /// The header element that says how frames are to be turned, if the server leaves that to us.
  var orientationID: UInt8? { isVideo ? section.extensionID(HeaderExtensionURI.videoOrientation) : nil }
  var clockRate: UInt32 { format?.codec.clockRate ?? 90_000 }
}

extension ReceiveSettings {
  fileprivate init(_ track: OfferedTrack, clock: ParticipantClock, factory: PipelineFactory, latency: Int?) {
    self.init(
      trackSid: track.sid, codec: track.codec.lowercased(), isVideo: track.isVideo,
      payloadType: track.format?.payloadType ?? PayloadType(0), orientationID: track.orientationID, clock: clock,
      factory: factory, latency: latency)
  }
}

extension RTPReceiver.Configuration {
  /// The first stream of the section, in any of its formats.
  init(_ track: OfferedTrack) {
    let pair = track.section.remoteSourceGroups.first { $0.semantics == "FID" && $0.ssrcs.count == 2 }
    self.init(
      track.section, ssrc: pair?.ssrcs[0] ?? track.section.remoteSources.first?.ssrc, rtx: pair?.ssrcs[1],
      clockRate: track.clockRate)
  }
}
