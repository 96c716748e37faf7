import MediaCore
import RTP

/// The receiving end of one track, from the socket to the pipelines. Lives on the transport's loop.
final class TrackReception {
  let trackSid: String
  private let codec: String
  private let isVideo: Bool
  private let clock: ParticipantClock
  private(set) var receiver: RTPReceiver
  private var pipelines: [ReceivePipeline] = []
  /// What came since the newest keyframe began, until the first pipeline is there: so that the first picture does not
  /// have to wait for another keyframe.
  private var backlog: [(packet: RTPPacket, time: MediaTime)] = []
  private static let backlogLimit = 1500
  private var newest: SequenceNumber?
  private var isPictureOpen = false
  /// Told when `nextDeadline` may have changed without a packet.
  var onRequest: () -> Void = {}

  init(
    trackSid: String, codec: String, isVideo: Bool, clock: ParticipantClock, configuration: RTPReceiver.Configuration
  ) {
    self.trackSid = trackSid
    self.codec = codec
    self.isVideo = isVideo
    self.clock = clock
    receiver = RTPReceiver(configuration: configuration)
  }

  var statistics: ReceptionStatistics { ReceptionStatistics(rtp: receiver.statistics, framesReceived: framesReceived) }
  /// Packets with the marker bit, which ends a picture.
  private var framesReceived = 0

  func receive(_ packet: RTPPacket, at time: MediaTime) {
    for packet in receiver.receive(packet, at: time) { deliver(packet, at: time) }
  }

  private func deliver(_ packet: RTPPacket, at time: MediaTime) {
    clock.observe(trackSid, timestamp: packet.timestamp, at: time)
    if packet.marker { framesReceived += 1 }
    if isVideo, isKeyframe(packet) {
      if pipelines.isEmpty { backlog.removeAll { $0.packet.timestamp != packet.timestamp } }
    }
    guard !pipelines.isEmpty else { return keep(packet, at: time) }
    for pipeline in pipelines { pipeline.push(packet, at: time) }
    noteOrder(of: packet)
  }

  private func noteOrder(of packet: RTPPacket) {
    let isNext = newest.map { $0.successor == packet.sequenceNumber } ?? false
    if newest.map({ packet.sequenceNumber.distance(from: $0) > 0 }) ?? true { newest = packet.sequenceNumber }
    isPictureOpen = isVideo && isNext && !packet.marker
  }

  /// Hands what `receive` took on to the pipelines. What follows in order within a picture stays until the picture is
  /// complete: a decoder can do nothing with it before, and waking its threads costs more than the work.
  func flush() {
    guard !isPictureOpen else { return }
    for pipeline in pipelines { pipeline.flush() }
  }

  private func isKeyframe(_ packet: RTPPacket) -> Bool {
    packet.payloadLength > 0 && packet.withPayload { KeyframeDetector.isKeyframe($0, codec: codec) }
  }

  private func keep(_ packet: RTPPacket, at time: MediaTime) {
    if isVideo {
      if backlog.count < Self.backlogLimit { backlog.append((packet, time)) } else { backlog.removeAll() }
    }
  }

  func receive(_ report: SenderReport, at time: MediaTime) {
    receiver.receive(report, at: time)
    clock.observe(trackSid, report)
  }

  func attach(_ pipeline: ReceivePipeline) {
    let isFirst = pipelines.isEmpty
    pipelines.append(pipeline)
    guard isVideo else { return }
    if isFirst, let first = backlog.first, isKeyframe(first.packet) {
      for (packet, time) in backlog { pipeline.push(packet, at: time) }
      pipeline.flush()
    } else {
      requestKeyframe()
    }
    backlog.removeAll()
  }

  func detach(_ pipeline: ReceivePipeline) { pipelines.removeAll { $0 === pipeline } }

  func requestKeyframe() {
    receiver.requestKeyframe()
    onRequest()
  }

  func poll(at time: MediaTime) -> [RTCPPacket] { receiver.poll(at: time) }
  var nextDeadline: MediaTime? { receiver.nextDeadline }
  func isUrgent(at time: MediaTime) -> Bool { receiver.isUrgent(at: time) }
}
