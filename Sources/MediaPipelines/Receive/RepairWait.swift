/// How long a lost packet is waited for before the stream goes on without it: as long as retransmissions take, so
/// that neither a frame that could be repaired is dropped nor anybody waits for what will not come. Pure.
public struct RepairWait: Sendable {
  /// Before a retransmission has come: LiveKit's server (1.13) sends none within 100 ms before it knows the round trip.
  public static let unmeasured = Duration.milliseconds(350)
  /// On a busy machine a packet may be here and not have been read for some time.
  public static let shortest = Duration.milliseconds(150)

  private let limit: Duration
  /// The wait that was told last.
  public private(set) var current: Duration

  /// - Parameter limit: the longest wait.
  public init(limit: Duration) {
    self.limit = limit
    current = min(limit, Self.unmeasured)
  }

  /// Follows what was measured: up at once, down only by a fifth or more or to the shortest, since each change is told to
  /// the whole pipeline.
  /// - Parameter repairTime: how long a retransmission may take; nil where it is not known.
  /// - Returns: the new wait; nil when it stays.
  public mutating func follow(_ repairTime: Duration?) -> Duration? {
    guard let repairTime else { return nil }
    let wanted = min(max(repairTime, Self.shortest), limit)
    let isMuchLess = wanted * 5 <= current * 4 || wanted == Self.shortest
    guard wanted > current || isMuchLess, wanted != current else { return nil }
    current = wanted
    return wanted
  }
}
