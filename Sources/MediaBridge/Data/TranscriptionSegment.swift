public import struct Foundation.Date

/// A piece of what somebody says, as text: a sentence or a turn. While it is spoken it is told again and again, each time
/// whole and with the same id.
public struct TranscriptionSegment: Sendable, Identifiable, Hashable {
  /// Of its participant, the same for all that is told of it.
  public let id: String
  /// All of it as it is known now.
  public let text: String
  /// As the sender names it, such as `en`; empty where it does not.
  public let language: String
  /// When something of it came here first.
  public let firstReceivedTime: Date
  /// When this came here.
  public let lastReceivedTime: Date
  /// Whether it stays as it is.
  public let isFinal: Bool
  /// When it begins, as the sender says: LiveKit fixes neither unit nor origin, and milliseconds since 1970 are usual;
  /// 0 where it does not say.
  public let startTime: UInt64
  /// When it ends, as `startTime`.
  public let endTime: UInt64

  package init(
    id: String, text: String, language: String = "", firstReceivedTime: Date, lastReceivedTime: Date, isFinal: Bool,
    startTime: UInt64 = 0, endTime: UInt64 = 0
  ) {
    (self.id, self.text, self.language, self.isFinal) = (id, text, language, isFinal)
    (self.firstReceivedTime, self.lastReceivedTime) = (firstReceivedTime, lastReceivedTime)
    (self.startTime, self.endTime) = (startTime, endTime)
  }
}

/// Remembers when what is still spoken came first. Pure.
struct SegmentTimes {
  private struct Key: Hashable {
    let speaker: String
    let id: String
  }
  private var first: [Key: Date] = [:]
  /// Senders that end nothing fill no memory.
  private static let limit = 1000

  /// - Returns: when something of it came first.
  mutating func note(_ id: String, of speaker: String, at now: Date, isFinal: Bool) -> Date {
    let key = Key(speaker: speaker, id: id)
    let time = first[key] ?? now
    if first.count >= Self.limit { first.removeAll() }
    first[key] = isFinal ? nil : time
    return time
  }
}
