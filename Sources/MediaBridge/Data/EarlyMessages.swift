import LiveKitProtocol
import MediaCore

/// Messages of those whom the server has not announced yet: LiveKit's tells every 3 s of who has joined and publishes
/// nothing. They wait for that in the order in which they came, but not for longer, since whoever is hidden is never
/// announced. What is about the moment does not wait: lossy messages, and calls of methods, which go by identity, also
/// where they are streams. Pure.
///
/// All goes by origin: who comes back is somebody else, and an agent who speaks for others is one and the same.
struct EarlyMessages: Sendable {
  private var waiting: [String: [Livekit_DataPacket]] = [:]
  /// They are not waited for again.
  private(set) var unannounced: Set<String> = []
  /// The streams of calls that are open, by origin.
  private var calls: [String: Set<String>] = [:]

  /// When who was announced has left, until all that they sent before has come.
  private var left: [String: MediaTime] = [:]

  /// How long the first one of an origin waits.
  static let patience = Duration.seconds(3.5)
  /// Of one origin.
  static let limit = 256
  /// So many that were never announced are known, since nobody says when they leave.
  static let unannouncedLimit = 1000
  /// How long what was sent before somebody left may come behind that.
  static let lateness = Duration.seconds(1)

  /// Whose messages wait.
  var origins: [String] { waiting.keys.sorted() }

  enum Verdict: Equatable {
    /// It is read now.
    case ready
    /// It waits; `isFirst` of its origin, which is to be released after `patience`.
    case waits(isFirst: Bool)
    /// It waits, and no more fit: its origin is to be released now.
    case full
  }

  /// - Parameter isAnnounced: whether no word of who sends it, or of whom it is sent for, is to come.
  mutating func take(
    _ packet: Livekit_DataPacket, from origin: String, isAnnounced: Bool, at now: MediaTime
  ) -> Verdict {
    guard packet.mayWait, !isOfCall(packet, from: origin) else { return .ready }
    // Nobody announces them any more.
    if let time = left[origin], now < time + Self.lateness { return .ready }
    let count = waiting[origin, default: []].count + 1
    // What is sent behind something that waits waits, too.
    guard count > 1 || !isAnnounced && !unannounced.contains(origin) else { return .ready }
    waiting[origin, default: []].append(packet)
    return count < Self.limit ? .waits(isFirst: count == 1) : .full
  }

  private mutating func isOfCall(_ packet: Livekit_DataPacket, from origin: String) -> Bool {
    switch packet.value {
    case .streamHeader(let header):
      guard RpcStream.Topic(rawValue: header.topic) != nil else { return false }
      // What is one packet is over with it.
      if header.hasInlineContent { return true }
      guard calls[origin, default: []].count < Self.limit else { return false }
      calls[origin, default: []].insert(header.streamID)
      return true
    case .streamChunk(let chunk): return calls[origin]?.contains(chunk.streamID) == true
    case .streamTrailer(let trailer): return endCall(trailer.streamID, from: origin)
    default: return false
    }
  }

  private mutating func endCall(_ id: String, from origin: String) -> Bool {
    let wasOpen = calls[origin]?.remove(id) != nil
    if calls[origin]?.isEmpty == true { calls[origin] = nil }
    return wasOpen
  }

  /// - Parameter isAnnounced: whether word of who sends it has come.
  /// - Returns: what has waited for it.
  mutating func release(_ origin: String, isAnnounced: Bool) -> [Livekit_DataPacket] {
    if isAnnounced {
      unannounced.remove(origin)
      left[origin] = nil
    } else if waiting[origin] != nil {
      if unannounced.count >= Self.unannouncedLimit { unannounced = [] }
      unannounced.insert(origin)
    }
    return waiting.removeValue(forKey: origin) ?? []
  }

  mutating func noteLeft(_ origin: String, at now: MediaTime) { (left[origin], calls[origin]) = (now, nil) }

  /// Whether they have left just now: what is open of them may go on.
  func mayGoOn(_ origin: String) -> Bool { left[origin] != nil }

  /// - Returns: who has left so long ago that nothing of them comes any more, once.
  mutating func takeGone(at now: MediaTime) -> [String] {
    let gone = left.filter { now >= $0.value + Self.lateness }.keys.sorted()
    for origin in gone { left[origin] = nil }
    return gone
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
