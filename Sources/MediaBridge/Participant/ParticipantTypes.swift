/// What a participant may do in the room.
public struct ParticipantPermissions: Hashable, Sendable {
  /// May receive what others publish.
  public var canSubscribe = false
  /// May publish tracks.
  public var canPublish = false
  /// Of these sources only; empty where there is no such limit.
  public var canPublishSources: Set<Track.Source> = []
  /// May send data messages.
  public var canPublishData = false
  /// Of name, metadata and attributes of its own.
  public var canUpdateMetadata = false
  /// Not shown to others.
  public var hidden = false

  /// Nothing is allowed, nothing hidden.
  public init() {}
}

/// How far a participant has come in joining; the numbers are the protocol's.
public enum ParticipantState: Int, Sendable, CaseIterable, CustomStringConvertible {
  /// Its signalling connection stands.
  case joining = 0
  /// It has been told of the room.
  case joined = 1
  /// Media can flow to it and from it.
  case active = 2
  /// It has left.
  case disconnected = 3
  /// The server says nothing that is known here.
  case unknown = 999

  /// Such as `active`.
  public var description: String {
    switch self {
    case .joining: "joining"
    case .joined: "joined"
    case .active: "active"
    case .disconnected: "disconnected"
    case .unknown: "unknown"
    }
  }
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
