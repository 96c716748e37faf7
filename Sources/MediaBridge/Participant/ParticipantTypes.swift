/// What a participant may do in the room.
public struct ParticipantPermissions: Hashable, Sendable {
  /// May receive what others publish.
  public var canSubscribe = false
  /// May publish tracks.
  public var canPublish = false
  /// May send data messages.
  public var canPublishData = false
  /// Of name, metadata and attributes of its own.
  public var canUpdateMetadata = false
  /// Not shown to others.
  public var hidden = false

  /// Nothing is allowed, nothing hidden.
  public init() {}
}

/// How well a participant is connected, as the server judges it.
public enum ConnectionQuality: Int, Codable, Sendable {
  /// Not judged yet.
  case unknown
  /// The server has no connection to it.
  case lost
  /// Much is lost: media suffers.
  case poor
  /// Some is lost.
  case good
  /// Nearly nothing is lost.
  case excellent
}

extension Participant {
  /// What kind of participant it is; the numbers are the protocol's.
  public enum Kind: Int, Sendable {
    /// A person with a client.
    case standard = 0
    /// A stream that the server takes in.
    case ingress
    /// A recorder of the server's own.
    case egress
    /// A telephone.
    case sip
    /// A program that takes part.
    case agent
  }
}
