import Foundation
package import LiveKitProtocol
import Logging
package import MediaCore
package import PeerTransport
import RTP
package import SDP
import SignalTransport

/// A media packet as it arrived.
package struct ReceivedPacket: Sendable {
  package var sequence: Int
  package var timestamp: UInt32
  package var payloadType: UInt8
  package var payload: [UInt8]
}

/// A client of the server, over a real WebSocket and real peer connections.
package actor RoomClient {
  package struct Log {
    package var join: Livekit_JoinResponse?
    /// The newest word on each participant, by identity.
    package var participants: [String: Livekit_ParticipantInfo] = [:]
    package var published: [String: Livekit_TrackInfo] = [:]
    package var unpublished: [String] = []
    package var failures: [Livekit_SubscriptionResponse] = []
    package var leave: Livekit_LeaveRequest?
    package var isClosed = false
    package var offers: [SDP.SessionDescription] = []
    /// The sources of the tracks that the newest offer sends: media and retransmissions.
    package var sources: [String: (media: SSRC, rtx: SSRC?)] = [:]
    package var packets: [SSRC: [ReceivedPacket]] = [:]
    /// The times of the sender reports on its publisher's wall clock.
    package var clocks: [SSRC: [NTPTime]] = [:]
    package var channels: [DataChannel] = []
    package var messages: [Livekit_DataPacket] = []
    package var publisherState = PeerState.new
    package var ownChannel: DataChannel?
  }

  package nonisolated let log = Locked(Log())
  private nonisolated let loop = TransportLoop(name: "client")
  private nonisolated let signal: SignalConnection
  package nonisolated let subscriber: PeerConnection
  private nonisolated let publisher: PeerConnection
  private nonisolated let publications: LoopBound<[Publication]>
  private let observers: [PeerObserver]
  private var descriptions: Descriptions
  private var reader: Task<Void, Never>?
  private var isEnded = false

  /// What both sides have said of both connections.
  private struct Descriptions {
    let capabilities: MediaCapabilities
    var answering: Negotiator?
    var offering: Negotiator?
    var candidates = (subscriber: PendingCandidates(), publisher: PendingCandidates())

    /// - Returns: the answer, and what was agreed on.
    mutating func answer(
      _ offer: SDP.SessionDescription, transport: LocalTransport
    ) -> (description: SDP.SessionDescription, sections: [NegotiatedSection]) {
      var negotiator = answering ?? Negotiator(sessionID: 2, transport: transport)
      negotiator.transport = transport
      let answer = negotiator.answer(offer, capabilities: capabilities)
      answering = negotiator
      return (answer.description, answer.sections)
    }
  }

  package static func join(
    _ server: RunningServer, as identity: String, room: String = "room", autoSubscribe: Bool = true,
    adaptiveStream: Bool = false, capabilities: MediaCapabilities = .subscriber,
    grant change: (inout VideoGrant) -> Void = { _ in }
  ) async throws -> RoomClient {
    var grant = VideoGrant(room: room, roomJoin: true)
    change(&grant)
    let signal = try await SignalConnection.connect(
      to: SignalURL(server.url), token: server.token(identity, grant),
      query: SignalQuery(autoSubscribe: autoSubscribe, adaptiveStream: adaptiveStream))
    let client = RoomClient(signal: signal, capabilities: capabilities)
    server.clients.withLock { $0.append(client) }
    await client.start()
    _ = try await client.wait { $0.join }
    return client
  }

  private init(signal: SignalConnection, capabilities: MediaCapabilities) {
    self.signal = signal
    descriptions = Descriptions(capabilities: capabilities)
    let (log, loop, publications) = (log, loop, LoopBound<[Publication]>([], on: loop))
    self.publications = publications
    func trickle(_ target: Livekit_SignalTarget) -> (String) -> Void {
      { candidate in
        var request = Livekit_SignalRequest()
        request.trickle.candidateInit =
          (try? JSONEncoder().encode(["candidate": candidate])).map { String(decoding: $0, as: UTF8.self) } ?? ""
        request.trickle.target = target
        signal.send(request)
      }
    }
    func peer(_ handlers: PeerObserver.Handlers, isControlling: Bool) -> (PeerObserver, PeerConnection) {
      var configuration = PeerConfiguration(isControlling: isControlling, logger: Logger(label: "client"))
      configuration.localAddresses = ["127.0.0.1"]
      let observer = PeerObserver(loop: loop, handlers: handlers)
      return (observer, PeerConnection(loop: loop, configuration: configuration, delegate: observer))
    }
    var incoming = PeerObserver.Handlers()
    incoming.packet = { packet, _ in log.withLock { $0.packets[packet.ssrc, default: []].append(.init(packet)) } }
    incoming.reports = { reports, _ in
      for case .senderReport(let report) in reports {
        log.withLock { $0.clocks[report.ssrc, default: []].append(report.ntp) }
      }
    }
    incoming.candidate = trickle(.subscriber)
    incoming.channel = { channel in log.withLock { $0.channels.append(channel) } }
    incoming.message = { message, _ in
      if let packet = try? Livekit_DataPacket(serializedBytes: message) { log.withLock { $0.messages.append(packet) } }
    }
    var outgoing = PeerObserver.Handlers()
    outgoing.candidate = trickle(.publisher)
    outgoing.channel = { channel in log.withLock { $0.ownChannel = channel } }
    outgoing.state = { state in log.withLock { $0.publisherState = state } }
    outgoing.reports = { reports, time in
      for publication in publications.value { publication.receive(reports, at: time) }
    }
    let subscriber = peer(incoming, isControlling: false)
    let publisher = peer(outgoing, isControlling: true)
    observers = [subscriber.0, publisher.0]
    self.subscriber = subscriber.1
    self.publisher = publisher.1
  }

  private func start() {
    reader = Task { [signal, log] in
      for await response in signal.responses { await self.handle(response) }
      log.withLock { $0.isClosed = true }
    }
  }

  // MARK: What tests ask

  /// Waits for something in the log.
  package nonisolated func wait<Value: Sendable>(_ find: @Sendable (Log) -> Value?) async throws -> Value {
    try await eventually { self.log.withLock { find($0) } }
  }

  package nonisolated func wait(until condition: @Sendable (Log) -> Bool) async throws {
    try await eventually { self.log.withLock { condition($0) } }
  }

  package nonisolated func packets(of sid: String) -> [ReceivedPacket] {
    log.withLock { log in log.sources[sid].flatMap { log.packets[$0.media] } ?? [] }
  }

  package nonisolated func clocks(of sid: String) -> [NTPTime] {
    log.withLock { log in log.sources[sid].flatMap { log.clocks[$0.media] } ?? [] }
  }

  package nonisolated func send(_ fill: (inout Livekit_SignalRequest) -> Void) {
    var request = Livekit_SignalRequest()
    fill(&request)
    signal.send(request)
  }

  /// Publishes and begins to send; returns the track's SID.
  package func publish(_ publication: Publication.Description) async throws -> String {
    send { request in publication.fill(&request.addTrack) }
    let sid = try await wait { $0.published[publication.cid]?.sid }
    try await prepareOffer()
    let mid = descriptions.offering?.add(publication.sendingTrack) ?? ""
    try await offer()
    let (publisher, publications) = (publisher, publications)
    await loop.call {
      let new = Publication(
        publication, mid: mid, loop: self.loop, send: { publisher.send($0) }, report: { publisher.send($0) })
      publications.value.append(new)
      new.start()
    }
    return sid
  }

  package func unpublish(_ cid: String) async throws {
    let mid = await loop.call { [publications] in
      defer { publications.value.removeAll { $0.cid == cid && $0.stop() } }
      return publications.value.first { $0.cid == cid }?.mid
    }
    descriptions.offering?.remove(mid: mid ?? "")
    try await offer()
  }

  /// Asks something of a publication, on its loop.
  package nonisolated func with<Value: Sendable>(
    _ cid: String, _ body: @escaping @Sendable (Publication) -> Value
  ) async -> Value? {
    await loop.call { [publications] in publications.value.first { $0.cid == cid }.map(body) }
  }

  private func connectPublisher() async throws {
    guard descriptions.offering == nil else { return }
    try await prepareOffer()
    try await offer()
  }

  private func prepareOffer() async throws {
    guard descriptions.offering == nil else { return }
    let local = await publisher.localParameters(setup: .actpass)
    guard let transport = local?.localTransport(preferring: .actpass) else {
      throw TimedOut(description: "no local parameters")
    }
    descriptions.offering = Negotiator(sessionID: 1, transport: transport)
    descriptions.offering?.addDataChannels()
  }

  private func offer() async throws {
    let offer = descriptions.offering?.makeOffer()
    guard let offer else { throw TimedOut(description: "no offer to make") }
    descriptions.candidates.publisher.awaitDescription()
    send { request in
      request.offer.type = "offer"
      request.offer.sdp = offer.description
    }
    try await eventually { await self.descriptions.candidates.publisher.isDescribed }
    try await wait { $0.publisherState == .connected }
  }

  package func leave() async {
    send { $0.leave.reason = .clientInitiated }
    await close()
  }

  /// As a client that crashed: nothing is said.
  package func close() async {
    guard !isEnded else { return }
    isEnded = true
    await loop.call { [publications] in
      for publication in publications.value { _ = publication.stop() }
      publications.value = []
    }
    await signal.close()
    await reader?.value
    await subscriber.close()
    await publisher.close()
    await loop.stop()
  }

  // MARK: Signalling

  private func handle(_ response: Livekit_SignalResponse) async {
    switch response.message {
    case .join(let join):
      log.withLock { log in
        log.join = join
        for info in join.otherParticipants { log.participants[info.identity] = info }
      }
    case .update(let update):
      log.withLock { log in for info in update.participants { log.participants[info.identity] = info } }
    case .offer(let offer): await answer(offer)
    case .answer(let answer): accept(answer)
    case .trickle(let trickle): add(trickle)
    case .trackPublished(let published): log.withLock { $0.published[published.cid] = published.track }
    case .trackUnpublished(let track): log.withLock { $0.unpublished.append(track.trackSid) }
    case .subscriptionResponse(let failure): log.withLock { $0.failures.append(failure) }
    case .leave(let leave): log.withLock { $0.leave = leave }
    default: break
    }
  }

  private func answer(_ message: Livekit_SessionDescription) async {
    guard let offer = try? SessionDescription(parsing: message.sdp), let remote = TransportParameters(offer),
      let local = await subscriber.localParameters(answering: remote, setup: .active),
      let transport = local.localTransport(preferring: .active)
    else { return }
    let answer = descriptions.answer(offer, transport: transport)
    log.withLock { log in
      log.offers.append(offer)
      log.sources = [:]
      for section in answer.sections where section.direction.receives {
        guard let sid = message.midToTrackID[section.mid], let source = section.remoteSources.first else { continue }
        log.sources[sid] = (source.ssrc, section.remoteSourceGroups.first?.ssrcs[1])
      }
    }
    subscriber.connect(to: remote, isDTLSClient: true)
    for candidate in descriptions.candidates.subscriber.described() { subscriber.add(remoteCandidate: candidate) }
    send { request in
      request.answer.type = "answer"
      request.answer.sdp = answer.description.description
      request.answer.id = message.id
    }
  }

  private func accept(_ message: Livekit_SessionDescription) {
    guard let answer = try? SessionDescription(parsing: message.sdp), let remote = TransportParameters(answer),
      (try? descriptions.offering?.accept(answer)) != nil
    else { return }
    publisher.connect(to: remote, isDTLSClient: remote.setup == .passive)
    for candidate in descriptions.candidates.publisher.described() { publisher.add(remoteCandidate: candidate) }
  }

  private func add(_ trickle: Livekit_TrickleRequest) {
    struct Candidate: Decodable { var candidate: String }
    guard let parsed = try? JSONDecoder().decode(Candidate.self, from: Data(trickle.candidateInit.utf8)) else { return }
    let candidate = parsed.candidate
    if trickle.target == .publisher {
      if descriptions.candidates.publisher.isReady(candidate) { publisher.add(remoteCandidate: candidate) }
    } else if descriptions.candidates.subscriber.isReady(candidate) {
      subscriber.add(remoteCandidate: candidate)
    }
  }
}

extension ReceivedPacket {
  init(_ packet: RTPPacket) {
    sequence = Int(packet.sequenceNumber.rawValue)
    timestamp = packet.timestamp
    payloadType = packet.payloadType.rawValue
    payload = packet.withPayload { Array($0) }
  }
}

extension RoomClient {
  package nonisolated var texts: [String] {
    log.withLock { $0.messages.map { String(decoding: $0.user.payload, as: UTF8.self) } }
  }

  /// Sends on the publishing connection's reliable channel, which is opened when it is needed.
  package func sendMessage(_ text: String, destination: String? = nil) async throws {
    let channel = try await messageChannel()
    var packet = Livekit_DataPacket()
    packet.user.payload = Data(text.utf8)
    packet.user.topic = "chat"
    packet.destinationIdentities = destination.map { [$0] } ?? []
    publisher.send(try packet.serializedBytes(), on: channel)
  }

  private func messageChannel() async throws -> DataChannel {
    if let channel = log.withLock({ $0.ownChannel }) { return channel }
    try await connectPublisher()
    publisher.openDataChannel(label: "_reliable")
    return try await wait { $0.ownChannel }
  }
}
