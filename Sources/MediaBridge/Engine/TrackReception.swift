import Bitstream
import GStreamerKit
import MediaCore
import MediaPipelines
import RTP
import SDP

/// The receiving end of one track, from the socket to the pipeline. Lives on the transport's loop.
final class TrackReception {
  let trackSid: String
  private let codec: String
  private let isVideo: Bool
  /// Nil for audio, and for frames that we do not look into.
  private let videoCodec: Bitstream.VideoCodec?
  private let clock: ParticipantClock
  private(set) var receiver: RTPReceiver
  private var pipeline: ReceivePipeline?
  /// What came since the newest keyframe began, or the newest audio, until there is a pipeline: so that nothing
  /// is lost while an output is made, and the first frame does not have to wait for another keyframe.
  private var backlog: [(packet: RTPPacket, time: MediaTime)] = []
  private static let videoBacklog = 1500
  /// Three seconds of audio, at least.
  private static let audioBacklog = 150
  private static let staleness = Duration.seconds(1)
  private var newest: SequenceNumber?
  private var isFrameOpen = false
  private var lastTimestamp: UInt32?
  private var wasMarked = true
  /// Packets that wait for the rest of their frame.
  private var waiting: [AppSource.Packet] = []
  private static let waitingLimit = 256
  /// How many packets came of the newest frame, when they are the last ones that wait, in order and from the first on.
  private var wholeFrame: Int?
  /// Whether its media comes, and who is told when that changes.
  private var watch: MediaTimeout
  private let onStream: (MediaTimeout.Change) -> Void
  /// Told when `nextDeadline` may have changed without a packet.
  var onRequest: () -> Void = {}

  /// The one payload type that the pipelines see.
  private let payloadType: PayloadType?
  /// The codec of each payload type: one codec has several where its variants are told apart, as H.264's profiles are.
  private let codecs: [PayloadType: String]
  private let mid: String
  private let onOtherCodec: (String) -> Void
  private var otherCodec: String?

  /// - Parameters:
  ///   - onOtherCodec: told once when packets of another codec than `track.codec` come.
  ///   - onStream: told when media stays away, or comes back.
  init(
    _ track: OfferedTrack, clock: ParticipantClock, configuration: RTPReceiver.Configuration,
    onOtherCodec: @escaping (String) -> Void, onStream: @escaping (MediaTimeout.Change) -> Void
  ) {
    watch = MediaTimeout(at: .now)
    self.onStream = onStream
    trackSid = track.sid
    codec = track.codec
    isVideo = track.isVideo
    videoCodec = Bitstream.VideoCodec(encodingName: track.codec)
    payloadType = track.format?.payloadType
    mid = track.section.mid
    codecs = Dictionary(track.section.formats.map { ($0.payloadType, $0.codec.name) }) { first, _ in first }
    self.clock = clock
    self.onOtherCodec = onOtherCodec
    receiver = RTPReceiver(configuration: configuration)
  }

  var statistics: ReceptionStatistics {
    ReceptionStatistics(
      rtp: receiver.statistics, framesReceived: frames.arrived, framesDropped: framesDropped, isFlowing: isFlowing,
      ssrc: receiver.ssrc, rtxSSRC: receiver.rtxSSRC, mid: mid, codec: codec, payloadType: payloadType)
  }
  private var isFlowing = false
  private var flowHandlers: [() -> Void] = []
  /// Of what the decoder for renderers makes.
  let meter = DecoderMeter()
  /// Packets with the marker bit, which ends a frame.
  private var frames = FrameDropCounter()
  /// The timestamps of the frames with which a decoder begins.
  private var group = KeptGroup<UInt32>(.sinceKeyframe)
  private var isKeyframeOpen = false
  /// For a lost packet; nil where nothing waits.
  private var wait: RepairWait?

  func receive(_ packet: RTPPacket, at time: MediaTime) {
    for packet in receiver.receive(packet, at: time) {
      guard let packet = expected(packet) else { continue }
      // What only probes or keeps a path open is no media.
      if !packet.isPaddingOnly, let change = watch.arrived(at: time) { onStream(change) }
      deliver(packet, at: time)
    }
  }

  /// The packet under the payload type that the pipelines know; nil when they cannot read it.
  private func expected(_ packet: RTPPacket) -> RTPPacket? {
    guard packet.payloadType != payloadType, let other = codecs[packet.payloadType] else { return packet }
    guard other == codec else {
      // Without a payload it only keeps a path open or probes it.
      if !packet.isPaddingOnly, otherCodec != other {
        otherCodec = other
        onOtherCodec(other)
      }
      return nil
    }
    var packet = packet
    packet.rewrite(payloadType: payloadType)
    return packet
  }

  private func deliver(_ packet: RTPPacket, at time: MediaTime) {
    // The first packet of a frame tells as much as all of them.
    if packet.timestamp != lastTimestamp { clock.observe(trackSid, timestamp: packet.timestamp, at: time) }
    let beginsAnew = !isVideo || isKeyframe(packet)
    note(packet, isKeyframe: beginsAnew, at: time)
    if let wholeFrame, isCutOff(by: packet) { blank(wholeFrame, before: packet, at: time) }
    if pipeline != nil { waiting.append(AppSource.Packet(packet, at: time)) }
    noteOrder(of: packet)
    if beginsAnew && !isFlowing { beginFlowing() }
    guard pipeline == nil else { return }
    if isVideo && beginsAnew { backlog.removeAll { $0.packet.timestamp != packet.timestamp } }
    keep(packet, at: time)
  }

  private func note(_ packet: RTPPacket, isKeyframe: Bool, at time: MediaTime) {
    if packet.timestamp != lastTimestamp { isKeyframeOpen = false }
    isKeyframeOpen = isKeyframeOpen || isKeyframe
    guard packet.endsFrame else { return }
    frames.note(packet.timestamp)
    if isVideo { group.add(packet.timestamp, isKeyframe: isKeyframeOpen, at: time) }
  }

  private func beginFlowing() {
    isFlowing = true
    for handler in flowHandlers { handler() }
    flowHandlers = []
  }

  /// Calls `handler` once, when something has come that can be shown or heard.
  func onFlow(_ handler: @escaping () -> Void) { if isFlowing { handler() } else { flowHandlers.append(handler) } }

  private func noteOrder(of packet: RTPPacket) {
    let isNext = newest.map { $0.successor == packet.sequenceNumber } ?? true
    if newest.map({ packet.sequenceNumber.distance(from: $0) > 0 }) ?? true { newest = packet.sequenceNumber }
    let isNewFrame = packet.timestamp != lastTimestamp
    // A sender need not mark where its frames end: then the next one says so.
    let continues = wasMarked ? isNewFrame : !isNewFrame
    isFrameOpen =
      isVideo && isNext && continues && !packet.marker && !packet.isPaddingOnly && waiting.count < Self.waitingLimit
    if !isNext || isNewFrame { wholeFrame = isNext && wasMarked ? 0 : nil }
    wholeFrame = wholeFrame.map { $0 + 1 }
    (lastTimestamp, wasMarked) = (packet.timestamp, packet.marker)
  }

  /// Hands what `receive` took on to the pipeline. What follows in order within a frame stays until the frame is
  /// complete: a decoder can do nothing with it before, and waking its threads costs more than the work.
  func flush() {
    guard !isFrameOpen, !waiting.isEmpty else { return }
    pipeline?.push(waiting)
    waiting.removeAll(keepingCapacity: true)
    wholeFrame = nil
  }

  /// Whether the newest frame stays without its end: a server changes over to another layer in the middle of a
  /// frame, and its numbers go on as if nothing were missing.
  private func isCutOff(by packet: RTPPacket) -> Bool {
    !wasMarked && packet.timestamp != lastTimestamp && newest?.successor == packet.sequenceNumber && isKeyframe(packet)
  }

  /// Takes the contents out of the newest frame's packets, which a decoder would take for a whole one. Their numbers
  /// stay, since those behind would wait for what is missing.
  private func blank(_ count: Int, before next: RTPPacket, at time: MediaTime) {
    for index in waiting.indices.suffix(count) {
      let packet = RTPPacket(
        payloadType: next.payloadType, sequenceNumber: next.sequenceNumber + (index - waiting.count),
        timestamp: lastTimestamp ?? next.timestamp, ssrc: next.ssrc, payload: [])
      waiting[index] = AppSource.Packet(packet, at: time)
    }
  }

  private func isKeyframe(_ packet: RTPPacket) -> Bool {
    packet.payloadLength > 0 && packet.withPayload { videoCodec?.startsKeyframe($0) ?? false }
  }

  private func keep(_ packet: RTPPacket, at time: MediaTime) {
    if isVideo {
      if backlog.count == Self.videoBacklog { backlog.removeAll() }
    } else {
      // Many at once: each time all others move up.
      if backlog.count == 2 * Self.audioBacklog { backlog.removeFirst(Self.audioBacklog) }
    }
    backlog.append((packet, time))
  }

  func receive(_ report: SenderReport, at time: MediaTime) {
    receiver.receive(report, at: time)
    clock.observe(trackSid, report)
  }

  func attach(_ pipeline: ReceivePipeline, at time: MediaTime) {
    // What came before a pause is not what is seen or heard now.
    if let newest = backlog.last, time - newest.time > Self.staleness { backlog.removeAll() }
    self.pipeline = pipeline
    wait = pipeline.longestWait.map(RepairWait.init(limit:))
    if let wait { pipeline.wait(for: wait.current) }
    if isBacklogUsable {
      waiting = backlog.map { AppSource.Packet($0.packet, at: $0.time) }
      flush()
    } else if isVideo {
      requestKeyframe()
    }
    backlog.removeAll()
  }

  private var isBacklogUsable: Bool { backlog.first.map { !isVideo || isKeyframe($0.packet) } ?? false }

  func detach(_ pipeline: ReceivePipeline) {
    if self.pipeline === pipeline { self.pipeline = nil }
  }

  // MARK: Decoding for renderers

  /// - Parameter isFirst: whether the decoder begins now, and so with what is kept.
  func decodingBegins(isFirst: Bool) {
    if pipeline == nil {
      frames.begin(with: isBacklogUsable ? backlog.filter(\.packet.endsFrame).map(\.packet.timestamp) : [])
    } else {
      frames.begin(with: isFirst ? group.frames(at: .now) : [])
    }
  }

  func decodingEnds() {
    let newest = meter.newestTime
    frames.end { isPending($0, newest) }
  }

  private var framesDropped: Int {
    let figures = meter.figures
    return frames.dropped(decoded: figures.framesDecoded) { isPending($0, figures.newest) }
  }

  /// Whether the frame of a timestamp is newer than the one of a time.
  private func isPending(_ timestamp: UInt32, _ newest: MediaTime?) -> Bool {
    guard let newest, let time = clock.time(trackSid, of: timestamp) else { return true }
    return time > newest + Self.clockTolerance
  }
  /// The timeline moves a little between the moments at which it tells the time of one frame.
  private static let clockTolerance = Duration.milliseconds(5)

  /// Whether media is to come.
  func expect(_ isExpected: Bool, at time: MediaTime) {
    watch.expect(isExpected, at: time)
    receiver.isPaused = !isExpected
    onRequest()
  }

  func noteLoss() { watch.noteLoss() }

  func pollStream(at time: MediaTime) {
    if let change = watch.poll(at: time) { onStream(change) }
  }

  func requestKeyframe() {
    receiver.requestKeyframe()
    onRequest()
  }

  func poll(at time: MediaTime) -> [RTCPPacket] {
    if let new = wait?.follow(receiver.repairTime) { pipeline?.wait(for: new) }
    return receiver.poll(at: time)
  }
  var nextDeadline: MediaTime? { receiver.nextDeadline }
  func isUrgent(at time: MediaTime) -> Bool { receiver.isUrgent(at: time) }
}

extension RTPPacket {
  fileprivate var endsFrame: Bool { marker && !isPaddingOnly }
}

extension AppSource.Packet {
  fileprivate init(_ packet: RTPPacket, at time: MediaTime) {
    self.init(packet.buffer, start: packet.start, count: packet.count, dts: time)
  }
}
