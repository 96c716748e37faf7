/// What a participant may do in the room.
public struct ParticipantPermissions: Hashable, Sendable {
  public var canSubscribe = false
  public var canPublish = false
  public var canPublishData = false
  /// Of name, metadata and attributes of its own.
  public var canUpdateMetadata = false
  /// Not shown to others.
  public var hidden = false

  public init() {}
}

/// How well a participant is connected, as the server judges it.
public enum ConnectionQuality: Int, Codable, Sendable {
  case unknown
  case lost
  case poor
  case good
  case excellent
}
