public import MediaCore

/// Tells a sender how much its way to us takes (REMB), where packets say when they were sent (`abs-send-time`). Pure.
///
/// LiveKit's server (1.13, `RemoteBWE`) offers nothing else by default. It lowers layers after a dozen falling estimates,
/// wants three of them while it probes, and looks at repeated NACKs only when an estimate comes: so one is sent ten times
/// a second while packets come.
public struct BandwidthFeedback: Sendable {
  private static let interval = Duration.milliseconds(100)
  /// After so long what is known of the way is over.
  private static let silence = Duration.seconds(3)
  /// Nobody needs less: that would be no audio any more.
  private static let least = 30_000.0

  /// The extension that has the time; nil where nothing is to be told.
  public var extensionID: UInt8?
  private let sender: SSRC
  private var clock = SendClock()
  private var bandwidth = IncomingBandwidth()
  /// When a packet came last, and whether one has come since the last update.
  private var newest: MediaTime?
  private var hasNews = false
  private var lastUpdate: MediaTime?

  /// - Parameter sender: who tells it.
  public init(sender: SSRC) { self.sender = sender }

  /// Bits a second of packets that bear a time, as far as it is known how many pass; nil before some have come.
  public var bitrate: Int? { bandwidth.bitrate.map { Int(max($0, Self.least)) } }
  /// Bits a second that passed when the way was full; nil while nothing says that it is narrow.
  public var limit: Int? { bandwidth.limit.map { Int($0) } }

  /// Notes a packet, whatever stream it is of.
  public mutating func note(_ packet: RTPPacket, at time: MediaTime) {
    guard let extensionID, let sent = packet.headerExtensionInteger(extensionID) else { return }
    if let newest, time - newest > Self.silence {
      clock = SendClock()
      bandwidth.beginAnew()
    }
    newest = time
    bandwidth.note(packet, sent: clock.time(UInt32(truncatingIfNeeded: sent)), at: time)
    hasNews = true
  }

  /// What is to be sent now.
  /// - Parameter sources: the streams of video that it is for; without any there is nobody to tell.
  public mutating func poll(at time: MediaTime, sources: @autoclosure () -> [SSRC]) -> [RTCPPacket] {
    guard hasNews, lastUpdate.map({ time - $0 >= Self.interval }) ?? true else { return [] }
    (hasNews, lastUpdate) = (false, time)
    bandwidth.update(at: time)
    let sources = sources()
    guard let bitrate, !sources.isEmpty else { return [] }
    return [.receiverEstimate(REMB(sender: sender, bitrate: UInt64(bitrate), sources: sources))]
  }
}

/// Reads `abs-send-time`: 24 bits of seconds with 18 behind the point, which begin anew every 64 s.
private struct SendClock: Sendable {
  private static let ticks: Int64 = 1 << 18

  private var unwrapper = Unwrapper<UInt32>()

  mutating func time(_ value: UInt32) -> MediaTime {
    // The upper 24 of 32 bits.
    let ticks = unwrapper.unwrap(value << 8) >> 8
    let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: Self.ticks)
    return MediaTime(nanoseconds: seconds &* 1_000_000_000 &+ rest * 1_000_000_000 / Self.ticks)
  }
}
