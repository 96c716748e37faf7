import LiveKitProtocol
import Logging
import MediaCore
import MediaPipelines
import PeerTransport
import SDP

/// The connection on which we send: we offer, the server answers. It is made for the first message or track, or at the join
/// where it is the primary one.
actor PublisherTransport {
  enum Event: Sendable {
    case candidate(String)
    case state(PeerState)
    /// Of a data channel: messages come on the primary connection.
    case message([UInt8])
  }

  /// The channels of LiveKit's protocol, as they open.
  private struct Channels: Sendable {
    static let labels = (reliable: "_reliable", lossy: "_lossy")
    var open: [String: DataChannel] = [:]

    subscript(_ kind: Livekit_DataPacket.Kind) -> DataChannel? {
      open[kind == .lossy ? Self.labels.lossy : Self.labels.reliable]
    }
  }

  /// How far offering has come.
  private struct Offers {
    var negotiator: Negotiator?
    /// Of the newest one, which its answer names.
    var id: UInt32 = 0
    var isBeingMade = false
    var restartsMeanwhile = false
    var candidates = PendingCandidates()

    var isAwaitingAnswer: Bool { negotiator?.isAwaitingAnswer == true }
  }

  /// What happens on the connection, in order; ends when it is closed. For one reader.
  nonisolated let events: AsyncStream<Event>
  private let told: AsyncStream<Event>.Continuation
  private let loop = TransportLoop(name: "mediabridge-pub")
  private let observer: PeerObserver
  private let peer: PeerConnection
  private let channels: Locked<Channels>
  /// Of what was sent reliably.
  private let numbers: LoopBound<MessageNumbers>
  /// Settled when messages can be sent, or never can.
  private let ready = Outcome<Void, LiveKitError>()
  /// Settled when none can be any more.
  private let over = Outcome<LiveKitError, Never>()
  /// Whether the session is lost and being brought back.
  private let isInterrupted = Locked(false)
  private var offers = Offers()
  /// Of a restart, until its offer is sent; nil while none is under way.
  private let heldCandidates = Locked<[String]?>(nil)
  /// What is sent, with the mids that it has in the newest offer.
  private let tracks = Locked<[(track: OutgoingTrack, mid: String?)]>([])
  private let link: OutgoingLink
  /// Bytes of the longest message.
  private var longestMessage = PublisherTransport.serverLimit
  /// LiveKit's server reads no message of a channel any more behind one that is longer, whatever it offers.
  private static let serverLimit = 65_535

  init(_ ways: MediaWays, loggers: Loggers) {
    let (events, told) = AsyncStream.makeStream(of: Event.self)
    (self.events, self.told) = (events, told)
    let configuration = PeerConfiguration(isControlling: true, ways, loggers: loggers)
    let channels = Locked(Channels())
    self.channels = channels
    numbers = LoopBound(MessageNumbers(), on: loop)
    link = OutgoingLink(loop: loop) { [tracks] in tracks.withLock { $0.flatMap(\.track.layers) } }
    var handlers = PeerObserver.Handlers()
    handlers.reports = { [tracks, link] reports, time in
      link.receive(reports, at: time)
      for (track, _) in tracks.withLock({ $0 }) {
        for report in reports { track.receive(report, at: time) }
      }
    }
    handlers.candidate = { [heldCandidates] candidate in
      let isHeld = heldCandidates.withLock { $0?.append(candidate) != nil }
      if !isHeld { told.yield(.candidate(candidate)) }
    }
    handlers.state = { [ready, over] state in
      if case .failed(let error) = state { Self.end(ready, over, LiveKitError(error)) }
      told.yield(.state(state))
    }
    handlers.message = { message, _ in told.yield(.message(message)) }
    handlers.channel = { [ready] channel in
      let areOpen = channels.withLock { channels in
        channels.open[channel.label] = channel
        return channels[.reliable] != nil && channels[.lossy] != nil
      }
      if areOpen { ready.settle(.success(())) }
    }
    observer = PeerObserver(loop: loop, handlers: handlers)
    peer = PeerConnection(loop: loop, configuration: configuration, delegate: observer)
    link.start(through: peer)
    peer.openDataChannel(label: Channels.labels.reliable)
    peer.openDataChannel(label: Channels.labels.lossy, isOrdered: false, maxRetransmits: 0)
  }

  private static func end(
    _ ready: Outcome<Void, LiveKitError>, _ over: Outcome<LiveKitError, Never>, _ error: LiveKitError
  ) {
    over.settle(.success(error))
    ready.settle(.failure(error))
  }

  private func fail(_ error: PeerError) {
    Self.end(ready, over, LiveKitError(error))
    told.yield(.state(.failed(error)))
  }

  // MARK: Negotiation

  /// - Parameter restartsICE: to find another way when the one there was is lost.
  /// - Returns: nil where nothing can be offered any more, or an offer has had no answer yet: then it comes behind that.
  func offer(restartsICE: Bool = false) async -> Livekit_SessionDescription? {
    if restartsICE {
      // pion forgets the candidates that it knows when the offer comes.
      heldCandidates.withLock { $0 = $0 ?? [] }
      peer.restartICE()
    }
    guard !offers.isBeingMade, restartsICE || !offers.isAwaitingAnswer else {
      offers.restartsMeanwhile = offers.restartsMeanwhile || restartsICE
      return nil
    }
    guard let transport = await localTransport() else { return nil }
    var negotiator = offers.negotiator ?? Negotiator(sessionID: .random(in: 1..<(1 << 62)), transport: transport)
    negotiator.transport = transport
    negotiator.abandonOffer()
    negotiator.addDataChannels()
    tracks.withLock { tracks in
      for index in tracks.indices where tracks[index].mid == nil {
        tracks[index].mid = negotiator.add(tracks[index].track.sendingTrack)
      }
    }
    let description = negotiator.makeOffer()
    offers.negotiator = negotiator
    offers.candidates.awaitDescription()
    guard let description else { return nil }
    offers.id += 1
    var offer = Livekit_SessionDescription()
    (offer.type, offer.sdp, offer.id) = ("offer", description.description, offers.id)
    return offer
  }

  /// What was gathered for it may follow.
  /// - Parameter id: of the offer; behind an older one a restart may have begun.
  func offerIsSent(_ id: UInt32) {
    guard id == offers.id, !offers.isBeingMade else { return }
    let held = heldCandidates.withLock { held in
      defer { held = nil }
      return held ?? []
    }
    for candidate in held { told.yield(.candidate(candidate)) }
  }

  /// What is asked for meanwhile is in the same offer.
  private func localTransport() async -> LocalTransport? {
    offers.isBeingMade = true
    defer { offers.isBeingMade = false }
    var transport: LocalTransport?
    repeat {
      offers.restartsMeanwhile = false
      transport = await peer.localParameters(setup: .actpass)?.localTransport(preferring: .actpass)
    } while offers.restartsMeanwhile
    return transport
  }

  /// The answer to an offer that another one has replaced is passed over. Older servers do not name the offer.
  /// - Returns: whether something has changed since what was offered.
  func accept(_ message: Livekit_SessionDescription) -> Bool {
    guard offers.isAwaitingAnswer, [0, offers.id].contains(message.id) else { return false }
    guard let answer = try? SessionDescription(parsing: message.sdp), let remote = TransportParameters(answer),
      let sections = try? offers.negotiator?.accept(answer)
    else {
      fail(.unusableAnswer)
      return false
    }
    // Zero means without limit (RFC 8841, 6).
    let limits = answer.media.filter(\.isDataChannels).compactMap(\.maxMessageSize).filter { $0 > 0 }
    longestMessage = limits.reduce(Self.serverLimit) { min($0, Int(clamping: $1)) }
    peer.connect(to: remote, isDTLSClient: remote.setup == .passive)
    for candidate in offers.candidates.described(with: answer.media.flatMap(\.candidates)) {
      peer.add(remoteCandidate: candidate)
    }
    for section in sections { negotiated(section) }
    return offers.negotiator?.needsOffer == true || tracks.withLock { $0.contains { $0.mid == nil } }
  }

  private func negotiated(_ section: NegotiatedSection) {
    let track = tracks.withLock { $0.first { $0.mid == section.mid }?.track }
    track?.negotiated(section)
  }

  func add(_ candidate: String) {
    if offers.candidates.isReady(candidate) { peer.add(remoteCandidate: candidate) }
  }

  // MARK: Tracks

  /// Makes what sends a track, which the next offer describes.
  func add(
    _ plan: PublishPlan, cid: String, factory: PipelineFactory, onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) -> OutgoingTrack {
    let track = try OutgoingTrack(cid: cid, plan, peer: peer, link: link, factory: factory, onFailure: onFailure)
    tracks.withLock { $0.append((track, nil)) }
    return track
  }

  /// The next offer is without it.
  func remove(_ track: OutgoingTrack) {
    let mid = tracks.withLock { tracks -> String? in
      guard let index = tracks.firstIndex(where: { $0.track === track }) else { return nil }
      return tracks.remove(at: index).mid
    }
    if let mid { offers.negotiator?.remove(mid: mid) }
  }

  /// Returns once something can be sent.
  /// - Throws: `error` where the task is cancelled before.
  func untilReady(orCancelled error: LiveKitError) async throws(LiveKitError) {
    try await ready.value(orCancelled: error)
  }

  // MARK: Messages

  /// How long a message waits.
  private struct Patience {
    let whole: Duration
    private(set) var end: MediaTime

    init(until limit: MediaTime) { (whole, end) = (limit - .now, limit) }

    mutating func begin() { end = .now + whole }
  }

  /// Returns when it is handed on.
  /// - Parameter limit: until when it may wait for the connection, and for room; what is lossy does not wait for room.
  ///   Behind a session that is lost meanwhile it begins anew.
  /// - Throws: `invalidParameter` for what is longer than the server takes, with all that is around it.
  func send(_ packet: Livekit_DataPacket, limit: MediaTime) async throws(LiveKitError) {
    var patience = Patience(until: limit)
    while ready.current == nil { try await pause(&patience, "the connection for messages has not come about") }
    try await ready.value()
    if case .success(let error) = over.current { throw error }
    guard let message: [UInt8] = try? packet.serializedBytes(), let channel = channels.withLock({ $0[packet.kind] })
    else { throw LiveKitError(.network, "the message cannot be sent") }
    let isReliable = packet.kind == .reliable
    let length = message.count + (isReliable ? MessageNumbers.size : 0)
    guard length <= longestMessage else {
      throw LiveKitError(
        .invalidParameter,
        "the message has \(length) bytes with its topic and whom it is for, and the server takes "
          + "\(longestMessage): cut it, or name fewer")
    }
    while !(await takes(message, on: channel, isReliable: isReliable)), isReliable {
      try await pause(&patience, "the server takes no more messages; send fewer")
      if case .success(let error) = over.current { throw error }
    }
  }

  /// - Returns: whether it is on its way; without a connection, and without room, it is not.
  private func takes(_ message: [UInt8], on channel: DataChannel, isReliable: Bool) async -> Bool {
    await loop.call { [peer, numbers] in
      guard isReliable else { return peer.sendsOnLoop(message, on: channel) }
      return numbers.value.send(message) { peer.sendsOnLoop($0, on: channel) }
    }
  }

  /// Before another look.
  /// - Throws: where there is to be none.
  private func pause(_ patience: inout Patience, _ obstacle: String) async throws(LiveKitError) {
    try? await Task.sleep(for: .milliseconds(20))
    // How long that takes is for the session to say.
    if isInterrupted.withLock({ $0 }) { patience.begin() }
    guard .now < patience.end else { throw LiveKitError(.timedOut, obstacle) }
    guard !Task.isCancelled else { throw LiveKitError(.cancelled, "it was stopped before the message was sent") }
  }

  /// Returns once the server has acknowledged all messages, which are lost where the connection is closed before.
  /// - Returns: false where it has not after a while, or nothing comes to it now.
  func flush() async -> Bool {
    let end = MediaTime.now + Self.longestFlush
    while !(await peer.isAcknowledged()) {
      guard .now < end, over.current == nil, !isInterrupted.withLock({ $0 }) else { return false }
      try? await Task.sleep(for: .milliseconds(20))
    }
    return true
  }

  private static let longestFlush = Duration.seconds(2)

  /// - Parameter isInterrupted: whether the session is lost and being brought back, until when all waits.
  nonisolated func note(isInterrupted: Bool) { self.isInterrupted.withLock { $0 = isInterrupted } }

  /// For the next restart of ICE.
  nonisolated func use(_ ways: MediaWays) { peer.use(ways.servers) }

  /// Nothing is left when it returns.
  func close() async {
    Self.end(ready, over, LiveKitError(.disconnected, "the connection was lost"))
    link.stop()
    await peer.close()
    await loop.stop()
    told.finish()
    // They hold the link, which looks for them here.
    let left = tracks.withLock { tracks in
      defer { tracks = [] }
      return tracks
    }
    for (track, _) in left { await track.stop() }
  }
}
