import LiveKitProtocol
import MediaCore

/// Messages of those whom the server has not announced yet: LiveKit's tells every 3 s of who has joined and publishes
/// nothing. They wait for that in the order in which they came, but not for longer, since whoever is hidden is never
/// announced. What is about the moment does not wait: lossy messages, and calls of methods, which go by identity. Pure.
struct EarlyMessages: Sendable {
  private var waiting: [String: [Livekit_DataPacket]] = [:]
  /// By identity: they are not waited for again.
  private var unannounced: Set<String> = []

  /// When who was announced has left.
  private var left: [String: MediaTime] = [:]

  /// How long the first one of a sender waits.
  static let patience = Duration.seconds(3.5)
  /// Of one sender.
  static let limit = 256
  /// How long what was sent before somebody left may come behind that.
  private static let lateness = Duration.seconds(1)

  /// Whose messages wait.
  var senders: [String] { waiting.keys.sorted() }

  enum Verdict: Equatable {
    /// It is read now.
    case ready
    /// It is read now, and nothing follows: its sender has left.
    case late
    /// It waits; `isFirst` of its sender, who is to be released after `patience`.
    case waits(isFirst: Bool)
    /// It waits, and no more fit: its sender is to be released now.
    case full
  }

  mutating func take(
    _ packet: Livekit_DataPacket, from sender: String, isAnnounced: Bool, at now: MediaTime
  ) -> Verdict {
    // An empty one is the server itself.
    guard !isAnnounced, !sender.isEmpty, !unannounced.contains(sender), packet.mayWait else { return .ready }
    if let time = left[sender], now < time + Self.lateness { return .late }
    let count = waiting[sender, default: []].count + 1
    waiting[sender, default: []].append(packet)
    return count < Self.limit ? .waits(isFirst: count == 1) : .full
  }

  /// - Parameter isAnnounced: whether the word of the sender has come.
  /// - Returns: what has waited for it.
  mutating func release(_ sender: String, isAnnounced: Bool) -> [Livekit_DataPacket] {
    if isAnnounced {
      unannounced.remove(sender)
      left[sender] = nil
    } else if waiting[sender] != nil {
      unannounced.insert(sender)
    }
    return waiting.removeValue(forKey: sender) ?? []
  }

  mutating func noteLeft(_ sender: String, at now: MediaTime) {
    left = left.filter { now < $0.value + Self.lateness }
    left[sender] = now
  }
}

extension Livekit_DataPacket {
  fileprivate var mayWait: Bool {
    switch value {
    case .rpcRequest, .rpcAck, .rpcResponse: false
    default: kind == .reliable
    }
  }
}
