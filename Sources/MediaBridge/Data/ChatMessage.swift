public import struct Foundation.Date

/// What somebody writes to the others in the room: a text of the topic `lk.chat`, or a message of LiveKit's older chat.
public struct ChatMessage: Sendable, Identifiable, Hashable {
  /// The sender's name of it; that of another one which it changes or takes back.
  public let id: String
  /// When it was written, by the sender's clock.
  public let timestamp: Date
  /// When it was changed; nil for one that is new.
  public let editTimestamp: Date?
  /// The text.
  public let message: String
  /// Whether it is taken back.
  public let isDeleted: Bool
  /// Whether a program has written it.
  public let isGenerated: Bool
}
