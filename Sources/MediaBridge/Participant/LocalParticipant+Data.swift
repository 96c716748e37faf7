public import Foundation
import LiveKitProtocol

/// How a message goes to the others of a room.
public struct DataPublishOptions: Sendable, Hashable {
  /// Who gets it, by identity; all others in the room where it is empty.
  public var destinationIdentities: [String]
  /// Whom it concerns among those who read messages; nil without.
  public var topic: String?
  /// Whether it is sent until it has arrived, in order with the others; otherwise once, as the newest is all that counts.
  public var reliable: Bool

  /// To all, once.
  public init(destinationIdentities: [String] = [], topic: String? = nil, reliable: Bool = false) {
    (self.destinationIdentities, self.topic, self.reliable) = (destinationIdentities, topic, reliable)
  }
}

extension LocalParticipant {
  /// The most that one message may hold, in bytes: what all peers take (RFC 8841, 6.1). LiveKit recommends 15,000 for
  /// reliable ones, and 1,300 for others, which then fit into one packet.
  public static let maximumDataSize = 64_000

  /// Sends a message into the room. While the connection is being brought back it waits for it.
  ///
  /// A reliable one has been handed to the transport when this returns; nobody confirms that it was read. It is lost with
  /// a connection that is lost meanwhile.
  /// - Parameter options: nil for ``RoomOptions/defaultDataPublishOptions``.
  /// - Throws: `permissionDenied` where the token does not let this participant send data, `invalidParameter` for what is
  ///   too large, also with its topic and whom it is for (65,535 bytes in all), `invalidState` without a
  ///   connection, `timedOut` or `network` when it cannot be sent.
  public func publish(data: Data, options: DataPublishOptions? = nil) async throws {
    guard data.count <= Self.maximumDataSize else {
      throw LiveKitError(
        .invalidParameter,
        "the message has \(data.count) bytes, and at most \(Self.maximumDataSize) can be sent: cut it")
    }
    let session = try sendingSession()
    let options = options ?? session.options.defaultDataPublishOptions
    var packet = Livekit_DataPacket()
    packet.kind = options.reliable ? .reliable : .lossy
    packet.user.payload = data
    if let topic = options.topic { packet.user.topic = topic }
    packet.destinationIdentities = options.destinationIdentities
    try await session.send(packet)
  }
}
