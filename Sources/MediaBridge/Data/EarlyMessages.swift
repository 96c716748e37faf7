import LiveKitProtocol
import MediaCore

/// Messages of those whom the server has not announced yet: they come on another way than the word of who has joined, and
/// may overtake it. They wait for that word in the order in which they came, but not for long, since whoever is hidden is
/// never announced. Pure.
struct EarlyMessages: Sendable {
  private var waiting: [String: [Livekit_DataPacket]] = [:]
  /// By identity: they are not waited for again.
  private var unannounced: Set<String> = []

  /// How long the first one of a sender waits.
  static let patience = Duration.seconds(1)
  /// Of one sender.
  static let limit = 256

  /// Whose messages wait.
  var senders: [String] { waiting.keys.sorted() }

  enum Verdict: Equatable {
    /// It is read now.
    case ready
    /// It waits; `isFirst` of its sender, who is to be released after `patience`.
    case waits(isFirst: Bool)
    /// It waits, and no more fit: its sender is to be released now.
    case full
  }

  mutating func take(_ packet: Livekit_DataPacket, from sender: String, isAnnounced: Bool) -> Verdict {
    // An empty one is the server itself.
    guard !isAnnounced, !sender.isEmpty, !unannounced.contains(sender) else { return .ready }
    let count = waiting[sender, default: []].count + 1
    waiting[sender, default: []].append(packet)
    return count < Self.limit ? .waits(isFirst: count == 1) : .full
  }

  /// - Parameter isAnnounced: whether the word of the sender has come.
  /// - Returns: what has waited for it.
  mutating func release(_ sender: String, isAnnounced: Bool) -> [Livekit_DataPacket] {
    if isAnnounced {
      unannounced.remove(sender)
    } else if waiting[sender] != nil {
      unannounced.insert(sender)
    }
    return waiting.removeValue(forKey: sender) ?? []
  }
}
