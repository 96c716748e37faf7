import LiveKitProtocol
import Logging
import MediaCore

/// What a room's participants say to each other beyond media. It goes on from session to session.
final class Messages: Sendable {
  let streams = StreamReceiver()
  let rpc = RpcExchange()
  let texts = Locked((received: ReceivedTexts(), times: SegmentTimes()))
  let compressed = Locked(CompressedStreams())
  private let complaints = Locked<Set<Complaint>>([])

  private struct Complaint: Hashable {
    let origin: String
    let reason: String
  }

  /// The end of the session.
  func cut() {
    cutStreams(from: nil)
    rpc.cut(from: nil)
  }

  /// - Parameter origin: whose they are; nil for all.
  func cutStreams(from origin: String?) {
    streams.cut(from: origin)
    texts.withLock { $0.received.cut(from: origin) }
    compressed.withLock { $0.cut(from: origin) }
    complaints.withLock { complaints in
      complaints = complaints.filter { origin != nil && $0.origin != origin }
    }
  }

  /// Whether a stream is a text that is told, and more of it may come.
  func isTold(_ id: String, from origin: String) -> Bool {
    texts.withLock { $0.received.isOpen(id, from: origin) }
  }

  /// Drops what is inflated of one sender and is told no more: its end may never come.
  func closeUntold(of origin: String) {
    let ids = compressed.withLock { $0.ids(of: origin) }
    let untold = ids.filter { !isTold($0, from: origin) }
    compressed.withLock { streams in for id in untold { streams.close(id, from: origin) } }
  }

  /// - Returns: whether it is to be logged: what goes wrong with each message of a sender is said once.
  func isNews(_ reason: String, of origin: String) -> Bool {
    complaints.withLock { $0.insert(Complaint(origin: origin, reason: reason)).inserted }
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
