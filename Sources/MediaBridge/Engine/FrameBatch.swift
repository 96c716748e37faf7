import MediaCore
import RTP

/// Packets on their way to a pipeline. What follows in order within a frame stays until the frame is complete: a decoder
/// can do nothing with it before, and waking its threads costs more than the work.
struct FrameBatch {
  /// More than a keyframe of a screen has, which is the largest.
  private static let limit = PacketBacklog.videoLimit

  /// Nil for audio.
  private let startsKeyframe: ((RTPPacket) -> Bool)?
  private var packets: [ArrivedPacket] = []
  private var newest: SequenceNumber?
  private var lastTimestamp: UInt32?
  private var wasMarked = true
  private var isFrameOpen = false
  /// How many packets came of the newest frame, when they are the last ones here, in order and from the first on.
  private var wholeFrame: Int?

  /// - Parameter startsKeyframe: whether a keyframe begins with a packet; nil for audio.
  init(startsKeyframe: ((RTPPacket) -> Bool)?) { self.startsKeyframe = startsKeyframe }

  /// Takes the next packet.
  mutating func add(_ arrived: ArrivedPacket) {
    let packet = arrived.packet
    if let wholeFrame, isCutOff(by: packet), startsKeyframe?(packet) == true { blank(wholeFrame, before: arrived) }
    packets.append(arrived)
    noteOrder(of: packet)
  }

  /// When the first packet came, and the last one; nil where there is none.
  var times: (first: MediaTime, last: MediaTime)? {
    guard let first = packets.first, let last = packets.last else { return nil }
    return (first.time, last.time)
  }

  var hasOnePacket: Bool { packets.count == 1 }

  /// Whether a frame is coming whose end is not here. Who stops in the middle of one is not waited for.
  func awaitsMore(at time: MediaTime) -> Bool {
    isFrameOpen && packets.last.map { time - $0.time < Self.longestPause } ?? false
  }

  /// Twice the pace at which libwebrtc sends bursts of packets.
  private static let longestPause = Duration.milliseconds(10)

  /// Hands on what is complete.
  /// - Parameter isWhole: whether a frame that is not waits for its end.
  mutating func flush(isWhole: Bool = true, _ push: ([ArrivedPacket]) -> Void) {
    guard !(isWhole && isFrameOpen), !packets.isEmpty else { return }
    push(packets)
    packets.removeAll(keepingCapacity: true)
    wholeFrame = nil
  }

  private mutating func noteOrder(of packet: RTPPacket) {
    let isNext = newest.map { $0.successor == packet.sequenceNumber } ?? true
    if newest.map({ packet.sequenceNumber.distance(from: $0) > 0 }) ?? true { newest = packet.sequenceNumber }
    let isNewFrame = packet.timestamp != lastTimestamp
    // A sender need not mark where its frames end: then the next one says so.
    let continues = wasMarked ? isNewFrame : !isNewFrame
    isFrameOpen =
      startsKeyframe != nil && isNext && continues && !packet.marker && !packet.isPaddingOnly
      && packets.count < Self.limit
    if !isNext || isNewFrame { wholeFrame = isNext && wasMarked ? 0 : nil }
    wholeFrame = wholeFrame.map { $0 + 1 }
    // Padding behind a frame has its timestamp, and leaves it ended.
    let stays = packet.isPaddingOnly && wasMarked && !isNewFrame
    (lastTimestamp, wasMarked) = (packet.timestamp, packet.marker || stays)
  }

  /// Whether the newest frame stays without its end: a server changes over to another layer in the middle of a frame, and
  /// its numbers go on as if nothing were missing.
  private func isCutOff(by next: RTPPacket) -> Bool {
    !wasMarked && next.timestamp != lastTimestamp && newest?.successor == next.sequenceNumber
  }

  /// Takes the contents out of the newest frame's packets, which a decoder would take for a whole one. Their numbers stay,
  /// since those behind would wait for what is missing.
  private mutating func blank(_ count: Int, before arrived: ArrivedPacket) {
    let next = arrived.packet
    for index in packets.indices.suffix(count) {
      let packet = RTPPacket(
        payloadType: next.payloadType, sequenceNumber: next.sequenceNumber + (index - packets.count),
        timestamp: lastTimestamp ?? next.timestamp, ssrc: next.ssrc, payload: [])
      packets[index] = ArrivedPacket(packet, at: arrived.time)
    }
    // It has its end, so that the next frame is followed from its beginning and may be cut off in turn.
    wasMarked = true
  }
}
