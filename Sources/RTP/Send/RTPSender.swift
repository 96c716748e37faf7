public import MediaCore

/// Looks after one stream that we send: answers requests for packets and keyframes, reports.
///
/// Pure: the owner sends packets itself and tells of each (`sent`); what comes back from `receive` and `poll` is to be
/// sent too.
public struct RTPSender: Sendable {
  /// What it was made with.
  public let configuration: Configuration
  /// As of now.
  public private(set) var statistics = Statistics()

  private var history: PacketHistory
  private var nextRetransmission: SequenceNumber
  private var clock: Clock?
  private var isClockGiven = false
  private var reports = SentReports()
  private var nextReport: MediaTime?
  private var lastIntraCommand: UInt8?

  /// A moment in the stream's clock, in ours, and on the wall when the media's origin says so.
  private struct Clock {
    var rtpTimestamp: UInt32
    var time: MediaTime
    var ntp: NTPTime?
  }

  /// A sender that has sent nothing yet.
  public init(configuration: Configuration) {
    self.configuration = configuration
    history = PacketHistory(length: configuration.historyLength, maximumAge: configuration.historyAge)
    nextRetransmission = configuration.retransmission?.firstSequenceNumber ?? SequenceNumber(0)
  }

  /// Notes a packet that is sent; nobody may edit it from now on.
  /// - Parameter captured: when what it shows happened; where this is known, reports put video and audio together
  ///   however long each took to encode.
  public mutating func sent(_ packet: RTPPacket, at time: MediaTime, captured: MediaTime? = nil) {
    history.insert(packet, at: time)
    statistics.packetsSent += 1
    statistics.bytesSent += packet.payloadLength
    if !isClockGiven && clock?.rtpTimestamp != packet.timestamp {
      clock = Clock(rtpTimestamp: packet.timestamp, time: captured ?? time)
    }
    if nextReport == nil { nextReport = time }
  }

  /// Takes over the clock of the media's origin, for a stream that is forwarded: at `time`, `rtpTimestamp` of the
  /// outgoing stream stood for `ntp`.
  public mutating func synchronise(ntp: NTPTime, rtpTimestamp: UInt32, at time: MediaTime) {
    clock = Clock(rtpTimestamp: rtpTimestamp, time: time, ntp: ntp)
    isClockGiven = true
  }

  // MARK: What the receiver says

  /// What a message of the receiver asks for.
  public struct Response: Sendable {
    /// Packets to be sent now.
    public var retransmissions = PacketBatch()
    /// Whether the encoder is to make a keyframe; a repeated FIR says it once.
    public var isKeyframeRequested = false
  }

  /// Takes any RTCP packet; those for other streams give nothing.
  public mutating func receive(_ packet: RTCPPacket, at time: MediaTime) -> Response {
    var response = Response()
    switch packet {
    case .nack(let nack): response.retransmissions = answer(nack, at: time)
    case .pictureLossIndication(_, let media): response.isKeyframeRequested = media == configuration.ssrc
    case .fullIntraRequest(_, let media, let command):
      response.isKeyframeRequested = media == configuration.ssrc && command != lastIntraCommand
      if media == configuration.ssrc { lastIntraCommand = command }
    case .receiverReport(let report): read(report.blocks, at: time)
    case .senderReport(let report): read(report.blocks, at: time)
    default: break
    }
    if response.isKeyframeRequested { statistics.keyframeRequests += 1 }
    return response
  }

  /// The packets that a request names and the history holds, wrapped for the stream of retransmissions.
  public mutating func answer(_ nack: NegativeAcknowledgement, at time: MediaTime) -> PacketBatch {
    guard nack.media == configuration.ssrc else { return PacketBatch() }
    statistics.nackRequests += 1
    let rule = configuration.repeats.rule(roundTripTime: statistics.roundTripTime)
    var batch = PacketBatch()
    for number in nack.lost {
      guard let packet = history.answer(number, by: rule, at: time) else { continue }
      let wrapped = wrap(packet)
      statistics.packetsRetransmitted += 1
      statistics.bytesRetransmitted += wrapped.payloadLength
      batch.append(wrapped)
    }
    return batch
  }

  private mutating func wrap(_ packet: RTPPacket) -> RTPPacket {
    guard let retransmission = configuration.retransmission,
      let type = retransmission.payloadTypes[packet.payloadType]
    else { return packet }
    var wrapped = packet.copy(prefixingPayload: packet.sequenceNumber.rawValue)
    wrapped.rewrite(payloadType: type, sequenceNumber: nextRetransmission, ssrc: retransmission.ssrc)
    nextRetransmission = nextRetransmission.successor
    return wrapped
  }

  private mutating func read(_ blocks: [ReportBlock], at time: MediaTime) {
    guard let block = blocks.first(where: { $0.ssrc == configuration.ssrc }) else { return }
    statistics.fractionLost = Double(block.fractionLost) / 256
    statistics.packetsLost = block.cumulativeLost
    statistics.remoteJitter = Double(block.jitter) / Double(configuration.clockRate)
    guard let sent = reports.time(of: block.lastSenderReport) else { return }
    let held = Duration.nanoseconds((Int64(block.delaySinceLastSenderReport) * 1_000_000_000) >> 16)
    let roundTrip = time - sent - held
    if roundTrip >= .zero { statistics.roundTripTime = roundTrip }
  }

  // MARK: Reports

  /// When `poll` has a report to make; nil before the first packet.
  public var nextDeadline: MediaTime? { nextReport }

  /// The reports that are due at `time`, which the wall clock calls `ntp`.
  public mutating func poll(at time: MediaTime, ntp: NTPTime) -> [RTCPPacket] {
    guard let nextReport, nextReport <= time else { return [] }
    guard let report = makeReport(at: time, ntp: ntp) else { return [] }
    self.nextReport = time + configuration.reportInterval
    guard !configuration.cname.isEmpty else { return [.senderReport(report)] }
    return [.senderReport(report), .sourceDescription(ssrc: configuration.ssrc, cname: configuration.cname)]
  }

  /// A sender report at once, for instance for one who has just joined; nil before the first packet.
  public mutating func makeReport(at time: MediaTime, ntp: NTPTime) -> SenderReport? {
    guard let clock, statistics.packetsSent > 0 else { return nil }
    let elapsed = time - clock.time
    let ticks = Int64(elapsed.seconds * Double(configuration.clockRate))
    let report = SenderReport(
      ssrc: configuration.ssrc, ntp: clock.ntp?.advanced(by: elapsed) ?? ntp,
      rtpTimestamp: clock.rtpTimestamp &+ UInt32(truncatingIfNeeded: ticks),
      packetCount: UInt32(truncatingIfNeeded: statistics.packetsSent),
      octetCount: UInt32(truncatingIfNeeded: statistics.bytesSent))
    reports.insert(report.ntp.middle, at: time)
    return report
  }
}

/// When the newest reports were sent, to find the round trip from the one that is quoted back.
private struct SentReports: Sendable {
  private var entries: [(middle: UInt32, time: MediaTime)] = []

  mutating func insert(_ middle: UInt32, at time: MediaTime) {
    if entries.count == 8 { entries.removeFirst() }
    entries.append((middle, time))
  }

  func time(of middle: UInt32) -> MediaTime? {
    middle == 0 ? nil : entries.last { $0.middle == middle }?.time
  }
}
