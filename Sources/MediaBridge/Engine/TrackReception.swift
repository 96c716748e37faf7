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
  /// What came since the newest keyframe began, or the newest sound, until the first pipeline is there: so that nothing
  /// is lost while an output is made, and the first picture does not have to wait for another keyframe.
  private var backlog: [(packet: RTPPacket, time: MediaTime)] = []
  private static let videoBacklog = 1500
  /// Three seconds of sound.
  private static let audioBacklog = 150

  init(
    trackSid: String, codec: String, isVideo: Bool, clock: ParticipantClock, configuration: RTPReceiver.Configuration
  ) {
    self.trackSid = trackSid
    self.codec = codec
    self.isVideo = isVideo
    self.clock = clock
    receiver = RTPReceiver(configuration: configuration)
  }

  var statistics: ReceptionStatistics {
    ReceptionStatistics(rtp: receiver.statistics, framesReceived: framesReceived, isFlowing: isFlowing)
  }
  private var isFlowing = false
  /// Packets with the marker bit, which ends a picture.
  private var framesReceived = 0

  func receive(_ packet: RTPPacket, at time: MediaTime) {
    for packet in receiver.receive(packet, at: time) { deliver(packet, at: time) }
  }

  private func deliver(_ packet: RTPPacket, at time: MediaTime) {
    clock.observe(trackSid, timestamp: packet.timestamp, at: time)
    if packet.marker { framesReceived += 1 }
    for pipeline in pipelines { pipeline.push(packet, at: time) }
    guard pipelines.isEmpty || !isFlowing else { return }
    let beginsAnew = !isVideo || isKeyframe(packet)
    if beginsAnew { isFlowing = true }
    guard pipelines.isEmpty else { return }
    if isVideo && beginsAnew { backlog.removeAll { $0.packet.timestamp != packet.timestamp } }
    keep(packet, at: time)
  }

  private func isKeyframe(_ packet: RTPPacket) -> Bool {
    packet.payloadLength > 0 && packet.withPayload { KeyframeDetector.isKeyframe($0, codec: codec) }
  }

  private func keep(_ packet: RTPPacket, at time: MediaTime) {
    if isVideo {
      if backlog.count == Self.videoBacklog { backlog.removeAll() }
    } else {
      if backlog.count == Self.audioBacklog { backlog.removeFirst() }
    }
    backlog.append((packet, time))
  }

  func receive(_ report: SenderReport, at time: MediaTime) {
    receiver.receive(report, at: time)
    clock.observe(trackSid, report)
  }

  func attach(_ pipeline: ReceivePipeline) {
    let isFirst = pipelines.isEmpty
    pipelines.append(pipeline)
    let isUsable = isFirst && (backlog.first.map { !isVideo || isKeyframe($0.packet) } ?? false)
    if isUsable { for (packet, time) in backlog { pipeline.push(packet, at: time) } }
    if isVideo && !isUsable { receiver.requestKeyframe() }
    backlog.removeAll()
  }

  func detach(_ pipeline: ReceivePipeline) { pipelines.removeAll { $0 === pipeline } }

  func requestKeyframe() { receiver.requestKeyframe() }

  func poll(at time: MediaTime) -> [RTCPPacket] { receiver.poll(at: time) }
  func isUrgent(at time: MediaTime) -> Bool { receiver.isUrgent(at: time) }
}
