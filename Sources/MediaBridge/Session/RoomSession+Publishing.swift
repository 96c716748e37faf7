import LiveKitProtocol
import MediaCore
import PeerTransport

// What this participant sends. The connection for it is made when something is sent first, or at the join where it is the
// primary one, and ends with the session.
extension RoomSession {
  /// Sends a message, once the session stands.
  /// - Returns: what has taken it.
  @discardableResult
  func send(_ packet: Livekit_DataPacket) async throws(LiveKitError) -> MessageCarrier {
    let limit = MediaTime.now + state.options.connect.timeout
    let carrier = try await carrier(until: limit)
    try await carrier.transport.send(packet, limit: limit)
    return carrier
  }

  /// Returns once the session stands.
  func untilStanding(_ limit: MediaTime) async throws(LiveKitError) {
    while !state.isEnded, !stands {
      guard .now < limit else {
        throw LiveKitError(.timedOut, "the connection to the room is lost, and is not back yet")
      }
      try? await Task.sleep(for: .milliseconds(20))
      guard !Task.isCancelled else { throw LiveKitError(.cancelled, "it was given up before the connection was back") }
    }
    guard !state.isEnded else { throw Self.notConnected }
  }

  /// A server that has ended the media may be about to say why.
  private var stands: Bool { !state.isRecovering && state.link.farewell == nil && link.client?.isOpen == true }

  /// The connection on which we send; it is made when it is asked for first.
  func publisher() -> PublisherTransport {
    if let transport = link.publisher { return transport }
    let transport = PublisherTransport(link.ways, loggers: services.loggers)
    link.publisher = transport
    // Ends with the transport.
    Task { for await event in transport.events { await self.handle(event, of: transport) } }
    Task { await offer(from: transport) }
    return transport
  }

  private func handle(_ event: PublisherTransport.Event, of transport: PublisherTransport) async {
    guard !state.isEnded, transport === link.publisher else { return }
    switch event {
    case .candidate(let candidate): link.client?.send(.trickle(candidate, for: .publisher))
    case .message(let message): receive(message)
    case .state(let new) where !state.link.isSubscriberPrimary: handle(.transport(new))
    case .state(let new):
      handle(.publisher(new))
      if case .disconnected = new { await offer(from: transport, restartsICE: true) }
    }
  }

  /// After the signalling connection was lost; an offer that was under way has had no answer.
  func offerAnew() async {
    if let transport = link.publisher { await offer(from: transport, restartsICE: true) }
  }

  func offer(from transport: PublisherTransport, restartsICE: Bool = false) async {
    guard let offer = await transport.offer(restartsICE: restartsICE), transport === link.publisher else { return }
    var request = Livekit_SignalRequest()
    request.offer = offer
    link.client?.send(request)
    await transport.offerIsSent(offer.id)
    logger.debug("offer sent")
  }

  func accept(_ answer: Livekit_SessionDescription) async {
    guard let transport = link.publisher else { return }
    if await transport.accept(answer) { await offer(from: transport) }
  }
}
