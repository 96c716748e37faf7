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
  /// Of audio that somebody has while it comes.
  private static let longestLive = Duration.milliseconds(100)
  /// On a busy machine a packet may be here and not have been read for some time.
  private let shortest: Duration
  /// Of a recording, which has time.
  private let patience: Duration
  private let loss: Loss
  /// Whether somebody hears it while it comes.
  public var isLive = false
  /// The wait that was told last.
  public private(set) var current: Duration

  /// - Parameter limit: the longest wait.
  public init(_ loss: Loss, limit: Duration) {
    let (shortest, first, longest): (Duration, Duration, Duration) =
      switch loss {
      case .video: (.milliseconds(150), Self.unmeasured, limit)
      case .audio: (.milliseconds(60), Self.unmeasured, limit)
      case .unrepaired: (.milliseconds(40), .milliseconds(40), .milliseconds(40))
      }
    (self.loss, self.shortest, patience) = (loss, shortest, min(longest, limit))
    current = min(first, limit)
  }

  private var longest: Duration { loss == .audio && isLive ? min(Self.longestLive, patience) : patience }

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
