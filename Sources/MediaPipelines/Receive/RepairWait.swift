/// How long a lost packet is waited for before the stream goes on without it: as long as retransmissions take, so
/// that neither a frame that could be repaired is dropped nor anybody waits for what will not come. Pure.
public struct RepairWait: Sendable {
  /// What is waited for.
  public enum Loss: Sendable {
    /// A frame that is not whole keeps those behind it from being decoded.
    case video
    /// A packet of 20 ms: who hears or mixes it live waits for no more than 100 ms, with all that is behind it.
    case audio
    /// What nobody sends again, and may only have been overtaken.
    case unrepaired
  }

  /// Before a retransmission has come: LiveKit's server (1.13) sends none within 100 ms before it knows the
  /// round trip.
  public static let unmeasured = Duration.milliseconds(350)
  private static let longestLive = Duration.milliseconds(100)
  private let loss: Loss
  /// What the template lets be waited for.
  private let limit: Duration
  /// Whether somebody hears it while it comes. A recording has time.
  public var isLive = false
  /// The wait that was told last.
  public private(set) var current: Duration

  /// - Parameter limit: the longest wait.
  public init(_ loss: Loss, limit: Duration) {
    (self.loss, self.limit) = (loss, limit)
    let first: Duration =
      switch loss {
      case .video, .audio: Self.unmeasured
      case .unrepaired: .milliseconds(40)
      }
    current = min(first, limit)
  }

  /// On a busy machine a packet may be here and not have been read for some time.
  private var shortest: Duration {
    switch loss {
    case .video: .milliseconds(150)
    case .audio: .milliseconds(60)
    case .unrepaired: .milliseconds(40)
    }
  }

  private var longest: Duration {
    switch loss {
    case .video: limit
    case .audio: isLive ? min(Self.longestLive, limit) : limit
    case .unrepaired: min(.milliseconds(40), limit)
    }
  }

  /// Follows what was measured: up at once, down only by a fifth or more or to the shortest, since each change is told to
  /// the whole pipeline.
  /// - Parameter repairTime: how long a retransmission may take; nil where it is not known.
  /// - Returns: the new wait; nil when it stays.
  public mutating func follow(_ repairTime: Duration?) -> Duration? {
    let wanted = repairTime.map { min(max($0, shortest), longest) } ?? min(current, longest)
    let isMuchLess = wanted * 5 <= current * 4 || wanted == shortest || current > longest
    guard wanted > current || isMuchLess, wanted != current else { return nil }
    current = wanted
    return wanted
  }
}
