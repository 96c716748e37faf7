public import MediaCore

/// Says how much may be sent over one connection, by what the other side reports of it. Pure: time is an argument.
///
/// All bitrates are of the link: bytes of RTP, and `LinkEstimate.overhead` for each packet.
public protocol CongestionController: Sendable {
  /// What the link is believed to carry now.
  var estimate: LinkEstimate { get }

  /// Notes a packet that goes out.
  /// - Parameters:
  ///   - bytes: of the whole RTP packet.
  ///   - number: its transport-wide number; nil where it has none.
  mutating func sent(bytes: Int, number: SequenceNumber?, at time: MediaTime)

  /// Takes what the other side reports: reception reports, REMB, transport-wide feedback. The rest changes nothing.
  mutating func receive(_ report: RTCPPacket, at time: MediaTime)

  /// To be called some times a second, since silence says something, too.
  mutating func advance(to time: MediaTime)

  /// Begins to find out whether the link carries `bitrate`: what is missing to it is to be sent as padding. What has
  /// passed is in the estimate soon after.
  mutating func probe(_ bitrate: Int, at time: MediaTime)

  /// Bytes of padding that are to be sent now; nil while nothing is probed.
  func missingPadding(at time: MediaTime) -> Int?
}

/// How much a link is believed to carry.
public struct LinkEstimate: Sendable, Equatable {
  /// What is known of it.
  public enum Limit: Sendable, Equatable {
    /// Nothing has been too much so far.
    case none
    /// It may carry more: what is sent is not enough to find out.
    case application
    /// More would be too much, or is being tried.
    case network
  }

  /// What each packet has besides RTP: IPv4, UDP and the tag of SRTP.
  public static let overhead = 38

  /// Bits a second.
  public var bitrate: Int
  /// What the bitrate means.
  public var limit: Limit
  /// How often it was lowered so far: what has been sent since and before without that fits, however low the estimate.
  public var decreases: Int
  /// The share of packets that got lost lately, 0 to 1.
  public var loss: Double
  /// What probes tell; nil where they would tell nothing, since the other side reports no arrivals.
  public var probes: Probes?

  /// What came of probes.
  public struct Probes: Sendable, Equatable {
    /// How many are over.
    public var count: Int
    /// Bits a second on the link that have passed with the newest one.
    public var passed: Int

    /// - Parameter passed: bits a second.
    public init(count: Int = 0, passed: Int = 0) { (self.count, self.passed) = (count, passed) }
  }

  /// - Parameter bitrate: bits a second.
  public init(bitrate: Int, limit: Limit, decreases: Int = 0, loss: Double = 0, probes: Probes? = nil) {
    (self.bitrate, self.limit, self.decreases, self.loss) = (bitrate, limit, decreases, loss)
    self.probes = probes
  }
}
