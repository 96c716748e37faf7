import LiveKitProtocol
import Logging
import MediaCore

/// What a room's participants say to each other beyond media. It goes on from session to session.
final class Messages: Sendable {
  let streams = StreamReceiver()
  let rpc = RpcExchange()
  let texts = Locked((received: ReceivedTexts(), times: SegmentTimes()))

  /// - Parameters:
  ///   - identity: who has left; nil for the end of the session.
  ///   - sid: of that stay.
  func cut(from identity: String? = nil, sid: String? = nil) {
    cutStreams(from: identity)
    if let sid { cutStreams(from: sid) }
    rpc.cut(from: identity)
  }

  /// - Parameter origin: whose they are; nil for all.
  func cutStreams(from origin: String?) {
    streams.cut(from: origin)
    texts.withLock { $0.received.cut(from: origin) }
  }
}

/// A connection that messages go on, to the end of a session.
struct MessageCarrier: Sendable {
  let transport: PublisherTransport
  /// The longest that a message may wait for room.
  let timeout: Duration

  func send(
    _ value: Livekit_DataPacket.OneOf_Value, to destinations: [String]
  ) async throws(LiveKitError) {
    try await transport.send(Livekit_DataPacket(value, to: destinations), limit: .now + timeout)
  }
}

extension Livekit_DataPacket {
  /// A packet that arrives, in order with the others.
  init(_ value: OneOf_Value, to destinations: [String]) {
    self.init()
    (kind, self.value, destinationIdentities) = (.reliable, value, destinations)
  }
}

extension LocalParticipant {
  /// Sends what arrives, once the session stands.
  /// - Returns: the connection that took it, on which what belongs to it follows.
  @discardableResult
  func send(
    _ value: Livekit_DataPacket.OneOf_Value, to destinations: [String]
  ) async throws(LiveKitError) -> MessageCarrier {
    try await sendingSession().send(Livekit_DataPacket(value, to: destinations))
  }

  /// - Throws: why nothing may be sent.
  func sendingSession() throws(LiveKitError) -> RoomSession {
    let session = try connectedSession()
    guard permissions.canPublishData else {
      throw LiveKitError(
        .permissionDenied, "the token does not allow to send data; ask for one with canPublishData")
    }
    return session
  }
}
