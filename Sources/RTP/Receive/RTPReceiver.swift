import Bitstream
public import MediaCore

/// Receives one remote media stream: puts repairs in their place, drops what came before, and says what to send back.
///
/// Pure: packets and times go in; packets to hand on come out of `receive`, RTCP to send out of `poll`. The owner
/// calls `poll` when `nextDeadline` has passed, or every few milliseconds.
///
/// Packets are handed on in the order of their arrival; whoever comes next puts them in sequence. Packets of
/// padding alone are handed on too (`isPaddingOnly`), because whoever waits for numbers has to see theirs.
public struct RTPReceiver: Sendable {
  /// What it was made with.
  public let configuration: Configuration
  private let formats: FormatTable
  private var identity: StreamIdentity
  private var window = SequenceWindow()
  private var record: ReceptionRecord
  private var reports: ReportSchedule
  private var nack = NACKGenerator()
  private var keyframes = KeyframeWatch()
  private var padding = PaddingFinder()
  /// Packets of padding that were lost, and are missed by nobody.
  private var lostPadding = 0
  /// Timestamps of the newest packets, to tell what redundancy repeats from what it recovers.
  private var recentTimestamps = RecentTimestamps()
  private var counters = Statistics()

  /// A receiver that has seen nothing yet.
  public init(configuration: Configuration) {
    self.configuration = configuration
    identity = StreamIdentity(ssrc: configuration.ssrc, rtxSSRC: configuration.rtxSSRC)
    formats = FormatTable(configuration.formats)
    record = ReceptionRecord(clockRate: configuration.clockRate)
    reports = ReportSchedule(every: configuration.reportInterval)
  }

  /// The stream, once it is known.
  public var ssrc: SSRC? { identity.ssrc }

  /// The stream of retransmissions, once it is known; may be set when it becomes known in another way.
  public var rtxSSRC: SSRC? {
    get { identity.rtxSSRC }
    set { identity.rtxSSRC = newValue }
  }

  /// How often what comes had nothing to do with what came before: the sender counts from somewhere else, or more is missing
  /// than is asked for. Whoever puts packets in order begins anew.
  public private(set) var discontinuities = 0

  /// Whether the stream is paused by agreement: no keyframe is asked for meanwhile, since none would come, and it begins
  /// with one. What was to be asked for waits.
  public var isPaused: Bool {
    get { keyframes.isPaused }
    set { keyframes.isPaused = newValue }
  }

  /// As of now; reading it costs a copy of a few numbers.
  public var statistics: Statistics {
    var statistics = counters
    statistics.packetsLost = max(0, Int(record.lost) - lostPadding)
    statistics.jitter = record.jitter / Double(configuration.clockRate)
    return statistics
  }

  /// How long it is worth waiting for a lost packet: until its third retransmission, with four times the jitter. Nil before
  /// one has come.
  public var repairTime: Duration? {
    nack.repairTime.map { $0 + .nanoseconds(Int64(record.jitter / Double(configuration.clockRate) * 4e9)) }
  }

  // MARK: Packets

  /// Takes a packet that nobody else holds: it may be edited in place.
  /// - Returns: what is to be handed on, the oldest first.
  public mutating func receive(_ packet: RTPPacket, at time: MediaTime) -> PacketBatch {
    guard let format = formats[packet.payloadType] else { return discard() }
    if case .retransmission(let original) = format {
      return receiveRetransmission(packet, of: original, at: time)
    }
    guard identity.sends(packet.ssrc) else { return discard() }
    return take(packet, format, isRetransmission: false, at: time)
  }

  private mutating func receiveRetransmission(
    _ packet: RTPPacket, of original: PayloadType, at time: MediaTime
  ) -> PacketBatch {
    guard let ssrc, identity.retransmits(packet.ssrc) else { return discard() }
    counters.retransmissionsReceived += 1
    counters.retransmittedBytes += packet.payloadLength
    // Without a payload it is a probe for bandwidth.
    guard packet.payloadLength > 0 else { return PacketBatch() }
    guard let format = formats[original],
      let packet = packet.unwrappingRetransmission(ssrc: ssrc, payloadType: original)
    else { return discard() }
    if case .retransmission = format { return discard() }
    return take(packet, format, isRetransmission: true, at: time)
  }

  private mutating func take(
    _ packet: RTPPacket, _ format: Format, isRetransmission: Bool, at time: MediaTime
  ) -> PacketBatch {
    let extended: Int64
    switch window.insert(packet.sequenceNumber, mayRestart: !isRetransmission) {
    case .duplicate:
      counters.packetsDuplicated += 1
      return PacketBatch()
    case .outside: return discard()
    case .restarted(let number):
      extended = number
      restart()
    case .newest(let number, let missing):
      extended = number
      note(missing, at: time)
      if !isRetransmission { record.measureJitter(timestamp: packet.timestamp, at: time) }
    case .late(let number):
      extended = number
      nack.noteArrival(
        number, highest: window.highest, isRetransmission: formats.tellRetransmissions ? isRetransmission : nil,
        at: time)
    }
    record.count(extended, isOriginal: !isRetransmission)
    if isRetransmission { counters.packetsRecovered += 1 }
    reports.begin(at: time)
    return deliver(packet, format, number: extended, at: time)
  }

  private mutating func note(_ missing: Range<Int64>, at time: MediaTime) {
    guard configuration.usesNACK else { return }
    guard !nack.noteGap(missing, at: time) else { return }
    discontinuities += 1
    keyframeNeeded(behind: window.highest)
  }

  private mutating func restart() {
    discontinuities += 1
    record.restart()
    nack.reset()
    padding.reset()
    recentTimestamps = RecentTimestamps()
    keyframeNeeded(behind: window.highest)
  }

  private mutating func discard() -> PacketBatch {
    counters.packetsDiscarded += 1
    return PacketBatch()
  }

  // MARK: Payloads

  private mutating func deliver(
    _ packet: RTPPacket, _ format: Format, number: Int64, at time: MediaTime
  ) -> PacketBatch {
    guard !packet.isPaddingOnly else {
      counters.paddingPackets += 1
      return PacketBatch(packet)
    }
    switch format {
    case .redundant: return takeApart(packet, number: number)
    case .video(let codec):
      // Only its number is handed on: it shows nothing, and would end what is recorded with a tiny frame.
      if packet.withPayload({ codec.isBlankFrame($0) }) {
        counters.paddingPackets += 1
        return PacketBatch(packet.droppingPayloadPrefix(packet.payloadLength))
      }
      let media = packet.cuttingTrailer(codec)
      lookForKeyframe(in: media, codec, number: number, at: time)
      if let padding = padding.note(media, number: number, codec) { return fill(padding, before: counted(media)) }
      return PacketBatch(counted(media))
    case .media, .retransmission: break
    }
    return PacketBatch(counted(packet))
  }

  /// Stands in for padding that was lost, so that nobody waits for it.
  private mutating func fill(_ padding: PaddingFinder.Padding, before packet: RTPPacket) -> PacketBatch {
    var batch = PacketBatch()
    for number in padding.numbers where !window.contains(number) {
      window.mark(number)
      nack.forget(number)
      lostPadding += 1
      batch.append(
        RTPPacket(
          payloadType: packet.payloadType, sequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: number)),
          timestamp: padding.timestamp, ssrc: packet.ssrc, payload: []))
    }
    batch.append(packet)
    return batch
  }

  private mutating func counted(_ packet: RTPPacket) -> RTPPacket {
    counters.packetsReceived += 1
    counters.bytesReceived += packet.payloadLength
    return packet
  }

  private mutating func lookForKeyframe(
    in packet: RTPPacket, _ codec: VideoCodec, number: Int64, at time: MediaTime
  ) {
    let part = packet.withPayload { codec.keyframePart($0) }
    if part == .beginning || part == .firstSlice { counters.keyframesReceived += 1 }
    // Parameter sets are repeated by some senders without one.
    let isKeyframe = part != nil && part != .parameterSets
    keyframes.note(number, isKeyframe: isKeyframe, mayAsk: configuration.usesPLI, at: time)
  }

  /// Hands on what the packet brings itself, after those of its earlier payloads that are missing (RFC 2198).
  private mutating func takeApart(_ packet: RTPPacket, number: Int64) -> PacketBatch {
    guard let redundant = packet.withPayload({ RedundantPayload($0) }), formats[redundant.primaryType] == .media
    else { return discard() }
    recentTimestamps.insert(packet.timestamp)
    var batch = PacketBatch()
    packet.withPayload { payload in
      redundant.forEachRedundant(in: payload) { index, block in
        let earlier = number - Int64(redundant.redundantCount - index)
        guard let found = recover(block, of: packet, number: earlier, payload) else { return }
        batch.append(found)
      }
    }
    var primary = packet.droppingPayloadPrefix(redundant.primaryStart)
    primary.rewrite(payloadType: redundant.primaryType)
    batch.append(counted(primary))
    return batch
  }

  private mutating func recover(
    _ block: RedundantPayload.Block, of packet: RTPPacket, number: Int64, _ payload: UnsafeRawBufferPointer
  ) -> RTPPacket? {
    let timestamp = packet.timestamp &- block.timestampOffset
    // Redundancy tells timestamps, not numbers: one that has come already would get a wrong number here.
    guard !block.range.isEmpty, formats[block.payloadType] == .media, let first = window.first, number > first,
      !window.contains(number), recentTimestamps.insert(timestamp)
    else { return nil }
    window.mark(number)
    nack.forget(number)
    counters.packetsRecovered += 1
    return counted(
      RTPPacket(
        payloadType: block.payloadType, sequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: number)),
        timestamp: timestamp, ssrc: packet.ssrc, payload: UnsafeRawBufferPointer(rebasing: payload[block.range])))
  }

  // MARK: Keyframes

  /// Asks for a keyframe: at once, or when the last request is old enough.
  /// - Parameter lost: a packet for which it is needed, where one that has come and begins behind it will do; nil for a new one.
  public mutating func requestKeyframe(behind lost: SequenceNumber? = nil) {
    keyframes.request(behind: lost.map(window.extended) ?? window.highest)
  }

  private mutating func keyframeNeeded(behind number: Int64) {
    if configuration.usesPLI { keyframes.request(behind: number) }
  }

  // MARK: Losses

  /// Takes how long it is to the sender and back, measured by something that does not wait for losses; to be called now and
  /// then, as it changes. Without it the receiver goes by how soon what it asks for comes, which often does not tell.
  public mutating func note(roundTrip: Duration) { nack.note(roundTrip: roundTrip) }

  /// Nobody waits for what is missing before `number` any more: it is not asked for again. Where no keyframe comes behind it
  /// either, one is asked for in the end.
  public mutating func abandon(before number: SequenceNumber) {
    if window.first != nil { nack.abandon(before: window.extended(number)) }
  }

  // MARK: RTCP

  /// Takes a sender report; one of another stream is ignored.
  public mutating func receive(_ report: SenderReport, at time: MediaTime) {
    guard report.ssrc == ssrc else { return }
    record.receive(report, at: time)
  }

  /// When `poll` has something to do; nil if only a packet can change that.
  public var nextDeadline: MediaTime? {
    guard ssrc != nil else { return nil }
    let request = configuration.usesNACK ? nack.nextDeadline(highest: window.highest) : nil
    // Asked for with every packet, so it makes no array.
    return earlier(request, earlier(keyframes.nextDeadline, reports.deadline(hasNews: record.hasNews)))
  }

  private func earlier(_ one: MediaTime?, _ other: MediaTime?) -> MediaTime? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }

  /// True when `poll` has something to send that should not wait for the next round.
  public func isUrgent(at time: MediaTime) -> Bool { nextDeadline.map { $0 <= time } ?? false }

  /// What is to be sent now.
  public mutating func poll(at time: MediaTime) -> [RTCPPacket] {
    guard let ssrc else { return [] }
    var packets: [RTCPPacket] = []
    if reports.poll(at: time, hasNews: record.hasNews) {
      let block = record.makeBlock(ssrc, at: time)
      packets.append(.receiverReport(ReceiverReport(ssrc: configuration.sender, blocks: [block])))
    }
    let (lost, givenUp) = nack.poll(highest: window.highest, at: time)
    if let givenUp { keyframeNeeded(behind: givenUp) }
    if !lost.isEmpty {
      counters.nackRequests += 1
      counters.nackedPackets += lost.count
      packets.append(.nack(NegativeAcknowledgement(sender: configuration.sender, media: ssrc, lost: lost)))
    }
    if keyframes.poll(at: time) {
      counters.keyframeRequests += 1
      packets.append(.pictureLossIndication(sender: configuration.sender, media: ssrc))
    }
    return packets
  }
}

/// The newest timestamps of a stream.
private struct RecentTimestamps: Sendable {
  private var timestamps: [UInt32] = []
  private var next = 0
  private static let length = 32

  /// False when it is among them already.
  @discardableResult
  mutating func insert(_ timestamp: UInt32) -> Bool {
    guard !timestamps.contains(timestamp) else { return false }
    if timestamps.count < Self.length { timestamps.append(timestamp) } else { timestamps[next] = timestamp }
    next = (next + 1) % Self.length
    return true
  }
}
