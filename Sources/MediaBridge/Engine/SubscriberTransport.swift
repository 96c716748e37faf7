import LiveKitProtocol
import Logging
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
    /// So many bits a second are all that passes; nil where that is over.
    case limit(Int?)
    /// A track goes on in another codec than was expected: `media` is another one.
    case mediaChanged
  }

  /// Tracks that come anew under the SID of what has not stopped yet.
  private struct Waiting {
    /// For how long nothing is said of it.
    let patience: Duration
    let logger: Logger
    var sids: Set<String> = []
  }

  /// What happens on the connection, in order; ends when it is closed. For one reader.
  nonisolated let events: AsyncStream<Event>
  private let told: AsyncStream<Event>.Continuation

  private let loop = TransportLoop(name: "mediabridge-rtc")
  private let core: LoopBound<SubscriberCore>
  private let observer: PeerObserver
  private let peer: PeerConnection
  private var negotiation = SubscriberNegotiation()
  private var candidates = PendingCandidates()
  private var tracks: ReceivedTracks
  private var waiting: Waiting
  nonisolated let stops = TrackStops()
  private var isClosed = false

  /// - Parameter patience: how long a track waits for what had its SID before without a word.
  init(
    _ ways: MediaWays, factory: PipelineFactory, latency: Int?, loggers: Loggers,
    patience: Duration = ClosingTransports.patience
  ) {
    waiting = Waiting(patience: patience, logger: loggers.tracks)
    tracks = ReceivedTracks(factory: factory, latency: latency, logger: loggers.pipelines)
    let (events, told) = AsyncStream.makeStream(of: Event.self)
    (self.events, self.told) = (events, told)
    let configuration = PeerConfiguration(isControlling: false, ways, loggers: loggers)
    let core = LoopBound(SubscriberCore(loop: loop, logger: loggers.tracks) { told.yield(.limit($0)) }, on: loop)
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
    let answer = negotiation.answer(offer, transport: transport, mids: mids)
    await learn(codecs: codecs)
    // The answer's setup is active unless the offer insisted on that role itself.
    peer.connect(to: remote, isDTLSClient: remote.setup != .active)
    for candidate in candidates.described(with: offer.media.flatMap(\.candidates)) {
      peer.add(remoteCandidate: candidate)
    }
    return answer.description
  }

  /// Begins to receive what is sent in codecs that are known here. What is being received goes on, whatever is said of
  /// it: its packets know better.
  /// - Parameter codecs: as in `answer`; others may be told of later.
  func learn(codecs: [String: [String]]) async {
    await update(negotiation.tracks(codecs: codecs, received: tracks.sent.values))
  }

  func add(_ candidate: String) {
    if candidates.isReady(candidate) { peer.add(remoteCandidate: candidate) }
  }

  /// What is received, by SID.
  var media: [String: TrackMedia] { tracks.media }

  private func update(_ offered: [OfferedTrack]) async {
    let live = Dictionary(offered.map { ($0.sid, $0) }) { _, newest in newest }
    tracks.offered = live
    for sid in tracks.ended(by: live) { stop(sid) }
    guard !isClosed else { return }
    var new: [TrackReception] = []
    for track in live.values where tracks.sent[track.sid] == nil {
      if stops.ended(track.sid) == nil { new.append(add(track)) } else { beginOnceStopped(track.sid) }
    }
    tracks.dropIdleClocks()
    await handOver(new)
  }

  /// What has ended is stopped beside all else: a decoder may take seconds for it, and the server waits for our answer.
  /// What comes anew under its SID begins behind that.
  private func stop(_ sid: String) { if let media = tracks.remove(sid) { stops.begin(media) } }

  private func handOver(_ new: [TrackReception]) async {
    let update = Handover((tracks.sections, new))
    await loop.call { [core] in core.value.update(update.value.0, update.value.1) }
  }

  private func add(_ track: OfferedTrack) -> TrackReception {
    tracks.add(
      track, on: loop, onOtherCodec: { [weak self] codec in Task { await self?.change(track.sid, to: codec) } },
      onStream: { [told] in told.yield(.stream(trackSid: track.sid, $0)) })
  }

  /// Has a track go on in the codec that its packets are in: the server's choice differs from what we expected, or it
  /// has everybody change over to the backup codec. LiveKit's offers nothing for that: the stream stays, and packets
  /// have another payload type (`DownTrack.handleUpstreamCodecChange`).
  private func change(_ sid: String, to codec: String) async {
    guard let earlier = tracks.change(sid, to: codec) else { return }
    stops.begin(earlier)
    await stopped(sid)
    // An offer that came meanwhile may have ended it, and begun it anew.
    guard tracks.media[sid] === earlier, let track = tracks.sent[sid] else { return }
    await begin(track)
  }

  /// Once, however often it is offered meanwhile.
  private func beginOnceStopped(_ sid: String) {
    guard waiting.sids.insert(sid).inserted else { return }
    Task {
      await stopped(sid)
      waiting.sids.remove(sid)
      // An offer that came meanwhile may have begun it already, or be without it.
      if tracks.sent[sid] == nil, let track = tracks.offered[sid] { await begin(track) }
    }
  }

  private func stopped(_ sid: String) async {
    let warning = Task { [weak self, patience = waiting.patience] in
      try? await Task.sleep(for: patience)
      if !Task.isCancelled { await self?.warn(ofWaiting: sid) }
    }
    defer { warning.cancel() }
    while let stop = stops.ended(sid) { await stop.value }
  }

  private func warn(ofWaiting sid: String) {
    // A new session may receive it.
    guard !isClosed else { return }
    waiting.logger.warning(
      "a track is not received before what came of it earlier has stopped: its decoder or a renderer hangs",
      metadata: ["track": "\(sid)"])
  }

  private func begin(_ track: OfferedTrack) async {
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

  /// For the next restart of ICE.
  nonisolated func use(_ ways: MediaWays) { peer.use(ways.servers) }

  /// From here to the server and back, as it was measured when this was called before; nil where it was not.
  func roundTripTime() async -> Duration? { isClosed ? nil : await peer.measureRoundTrip() }

  /// Whether the server answers on the way that media takes.
  func isAnswered(within limit: Duration) async -> Bool { isClosed ? false : await peer.isAnswered(within: limit) }

  /// Closes everything; nothing is left when it returns. The server is left at once, however long a decoder takes.
  func close() async {
    isClosed = true
    for media in tracks.removeAll() { stops.begin(media) }
    await peer.close()
    for stop in stops.all { await stop.value }
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
