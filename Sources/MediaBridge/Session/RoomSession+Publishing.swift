import LiveKitProtocol
import MediaCore
import PeerTransport

// What this participant sends. The connection for it is made when something is sent first, and ends with the session.
extension RoomSession {
  /// Sends a message, once the session stands.
  func send(_ packet: Livekit_DataPacket) async throws(LiveKitError) {
    let limit = MediaTime.now + state.options.connect.timeout
    while !state.isEnded, state.isRecovering || link.client?.isOpen != true {
      guard .now < limit else {
        throw LiveKitError(.timedOut, "the connection to the room is lost, and is not back yet")
      }
      try? await Task.sleep(for: .milliseconds(20))
      guard !Task.isCancelled else { throw LiveKitError(.cancelled, "the message was not sent") }
    }
    guard !state.isEnded else { throw Self.notConnected }
    try await publisher().send(packet, limit: limit)
  }

  private func publisher() -> PublisherTransport {
    if let transport = link.publisher { return transport }
    let transport = PublisherTransport(
      servers: link.servers, localAddresses: link.client?.url.loopbackAddresses ?? [],
      timeout: state.options.connect.timeout, loggers: services.loggers)
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
    // What is received goes on whatever becomes of what is sent, so the session does. Whoever sends is told.
    case .state(.disconnected): await offer(from: transport, restartsICE: true)
    case .state: break
    }
  }

  /// After the signalling connection was lost; an offer that was under way has had no answer.
  func offerAnew() async {
    if let transport = link.publisher { await offer(from: transport, restartsICE: true) }
  }

  private func offer(from transport: PublisherTransport, restartsICE: Bool = false) async {
    guard let text = await transport.offer(restartsICE: restartsICE), transport === link.publisher else { return }
    var request = Livekit_SignalRequest()
    request.offer.type = "offer"
    request.offer.sdp = text
    link.client?.send(request)
    logger.debug("offer sent")
  }

  func accept(_ answer: Livekit_SessionDescription) async {
    do throws(LiveKitError) { try await link.publisher?.accept(answer.sdp) } catch {
      logger.debug("answer refused", metadata: ["reason": "\(error.message)"])
    }
  }
}
