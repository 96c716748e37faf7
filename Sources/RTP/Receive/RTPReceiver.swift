public import MediaCore

/// The receiving end of one media stream: takes retransmissions and redundancy apart, drops what came before, asks for
/// what is missing, and reports. No I/O and no clock: time comes in, packets and reports go out.
///
/// A bandwidth estimate (goog-remb) for servers that ask for one will be made from the same arrivals.
public struct RTPReceiver: Sendable {
  /// What a payload type of the stream stands for.
  public enum Format: Sendable, Equatable {
    case media
    case retransmission(of: PayloadType)
    case redundant
  }

  public struct Configuration: Sendable {
    public var ssrc: SSRC
    public var rtxSSRC: SSRC?
    public var clockRate: UInt32
    public var formats: [PayloadType: Format]
    /// Whether the sender answers NACK for this stream.
    public var usesNACK: Bool

    public init(
      ssrc: SSRC, rtxSSRC: SSRC?, clockRate: UInt32, formats: [PayloadType: Format], usesNACK: Bool
    ) {
      self.ssrc = ssrc
      self.rtxSSRC = rtxSSRC
      self.clockRate = max(1, clockRate)
      self.formats = formats
      self.usesNACK = usesNACK
    }
  }

  /// What one arrival yields: nearly always one packet, for which nothing is allocated.
  public enum Delivery: Sendable, Sequence {
    case none
    case one(RTPPacket)
    case several([RTPPacket])

    public func makeIterator() -> AnyIterator<RTPPacket> {
      var index = 0
      return AnyIterator {
        defer { index += 1 }
        return self[index]
      }
    }

    @inline(__always)
    public func forEach(_ body: (RTPPacket) throws -> Void) rethrows {
      switch self {
      case .none: break
      case .one(let packet): try body(packet)
      case .several(let packets): try packets.forEach(body)
      }
    }

    private subscript(index: Int) -> RTPPacket? {
      switch self {
      case .none: nil
      case .one(let packet): index == 0 ? packet : nil
      case .several(let packets): packets.indices.contains(index) ? packets[index] : nil
      }
    }
  }

  /// The standard counts of a received stream.
  public struct Statistics: Sendable, Equatable {
    public var packetsReceived = 0
    public var bytesReceived = 0
    public var packetsLost = 0
    public var duplicates = 0
    /// Media packets that ended a frame (the marker bit of video payloads).
    public var framesReceived = 0
    public var retransmissionsReceived = 0
    public var nackCount = 0
    public var pliCount = 0
    /// Seconds.
    public var jitter = 0.0

    public init() {}
  }

  public var rtxSSRC: SSRC?
  public var ssrc: SSRC { configuration.ssrc }
  public private(set) var statistics = Statistics()

  private let configuration: Configuration
  private var log = ArrivalLog()
  private var nacks = NACKGenerator()
  private var keyframes = KeyframeRequester()
  private var jitter: JitterEstimate
  private var lastReport: (middle: UInt32, at: MediaTime)?
  private var nextReport: MediaTime?
  private var reported: (expected: Int64, received: Int64) = (0, 0)

  /// RFC 3550, 6.2 asks for five seconds; WebRTC stacks report each second, and senders estimate loss from it.
  private static let reportInterval = Duration.seconds(1)

  public init(configuration: Configuration) {
    self.configuration = configuration
    rtxSSRC = configuration.rtxSSRC
    jitter = JitterEstimate(clockRate: configuration.clockRate)
  }

  /// Takes a packet of the stream or of its retransmission.
  /// - Returns: the media packets that are new; one without payload is padding and only says that its number is not
  ///   missing. They are returned and not handed to a closure, since who takes them may call back in here.
  public mutating func receive(_ packet: RTPPacket, at time: MediaTime) -> Delivery {
    if nextReport == nil { nextReport = time + Self.reportInterval }
    statistics.packetsReceived += 1
    statistics.bytesReceived += packet.count
    switch configuration.formats[packet.payloadType] {
    case .media: return accept(packet, isRetransmission: false, at: time)
    case .retransmission(let original):
      guard let media = packet.unwrappingRetransmission(ssrc: configuration.ssrc, payloadType: original) else {
        return .none
      }
      statistics.retransmissionsReceived += 1
      return accept(media, isRetransmission: true, at: time)
    case .redundant: return acceptRedundant(packet, at: time)
    case nil: return .none
    }
  }

  private mutating func accept(_ packet: RTPPacket, isRetransmission: Bool, at time: MediaTime) -> Delivery {
    let (number, verdict) = log.record(packet.sequenceNumber)
    guard verdict != .duplicate else {
      statistics.duplicates += 1
      return .none
    }
    if !isRetransmission { jitter.record(packet.timestamp, at: time) }
    if configuration.usesNACK, nacks.record(number, isNewest: verdict == .newest, at: time) == .gapTooLarge {
      keyframes.request()
    }
    if packet.marker { statistics.framesReceived += 1 }
    return .one(packet)
  }

  /// RFC 2198: lost packets come back from the redundancy of the next one.
  private mutating func acceptRedundant(_ packet: RTPPacket, at time: MediaTime) -> Delivery {
    guard let blocks = RedundantBlock.parse(packet) else { return .none }
    var recovered: [RTPPacket] = []
    for (index, block) in blocks.enumerated() {
      let step = index - (blocks.count - 1)
      let isPrimary = step == 0
      if block.range.isEmpty && !isPrimary { continue }
      let number = packet.sequenceNumber + step
      guard isPrimary || log.isMissing(number) else { continue }
      let media = packet.withUnsafeBytes { bytes in
        RTPPacket(
          payloadType: block.payloadType, sequenceNumber: number, timestamp: packet.timestamp &- block.timestampOffset,
          ssrc: packet.ssrc, marker: isPrimary && packet.marker, payload: .init(rebasing: bytes[block.range]))
      }
      recovered += accept(media, isRetransmission: !isPrimary, at: time)
    }
    return .several(recovered)
  }

  /// A sender report of this stream; the next reception report quotes it.
  public mutating func receive(_ report: SenderReport, at time: MediaTime) {
    lastReport = (report.ntp.middle, time)
  }

  /// The decoder needs a keyframe: it is asked for now and again until `keyframeArrived()`.
  public mutating func requestKeyframe() { keyframes.request() }
  public mutating func keyframeArrived() { keyframes.satisfied() }

  /// What is to be sent now. Cheap when there is nothing.
  public mutating func poll(at time: MediaTime) -> [RTCPPacket] {
    var packets: [RTCPPacket] = []
    if let nextReport, nextReport <= time {
      self.nextReport = time + Self.reportInterval
      packets.append(.receiverReport(ReceiverReport(ssrc: Self.reporter, blocks: [makeBlock(at: time)])))
    }
    let lost = nacks.poll(at: time)
    if !lost.isEmpty {
      statistics.nackCount += 1
      packets.append(.nack(NegativeAcknowledgement(sender: Self.reporter, media: configuration.ssrc, lost: lost)))
    }
    if nacks.takeAbandoned() { keyframes.request() }
    if keyframes.poll(at: time) {
      statistics.pliCount += 1
      packets.append(.pictureLossIndication(sender: Self.reporter, media: configuration.ssrc))
    }
    return packets
  }

  /// True when `poll` has something that should not wait for the next regular one.
  public func isUrgent(at time: MediaTime) -> Bool { nacks.isDue(at: time) || keyframes.isDue(at: time) }

  /// A receiver without streams of its own still needs a name in its reports.
  private static let reporter = SSRC(1)

  private mutating func makeBlock(at time: MediaTime) -> ReportBlock {
    let expected = log.expected
    let (newExpected, newReceived) = (expected - reported.expected, log.received - reported.received)
    reported = (expected, log.received)
    let lost = newExpected - newReceived
    let fraction = newExpected > 0 && lost > 0 ? UInt8(clamping: lost * 256 / newExpected) : 0
    statistics.packetsLost = Int(max(0, expected - log.received))
    statistics.jitter = jitter.seconds
    let delay = lastReport.map { UInt32(clamping: (time - $0.at).nanoseconds * 65_536 / 1_000_000_000) }
    return ReportBlock(
      ssrc: configuration.ssrc, fractionLost: fraction, cumulativeLost: Int(expected - log.received),
      highestSequence: UInt32(truncatingIfNeeded: log.highest), jitter: jitter.units,
      lastSenderReport: lastReport?.middle ?? 0, delaySinceLastSenderReport: delay ?? 0)
  }
}
