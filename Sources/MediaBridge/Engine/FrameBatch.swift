import MediaCore
import RTP

/// Packets on their way to a pipeline. What follows in order within a frame stays until the frame is complete: a decoder
/// can do nothing with it before, and waking its threads costs more than the work.
struct FrameBatch {
  private static let limit = 256

  private let isVideo: Bool
  private var packets: [ArrivedPacket] = []
  private var newest: SequenceNumber?
  private var lastTimestamp: UInt32?
  private var wasMarked = true
  private var isFrameOpen = false
  /// How many packets came of the newest frame, when they are the last ones here, in order and from the first on.
  private var wholeFrame: Int?

  init(isVideo: Bool) { self.isVideo = isVideo }

  /// Whether a packet is of another frame than the one before.
  func beginsFrame(_ packet: RTPPacket) -> Bool { packet.timestamp != lastTimestamp }

  /// Takes the next packet.
  /// - Parameter isWanted: whether somebody takes it; else only its order is noted.
  mutating func add(_ packet: RTPPacket, isKeyframe: Bool, isWanted: Bool, at time: MediaTime) {
    if let wholeFrame, isVideo, isKeyframe, isCutOff(by: packet) { blank(wholeFrame, before: packet, at: time) }
    if isWanted { packets.append(ArrivedPacket(packet, at: time)) }
    noteOrder(of: packet)
  }

  /// Puts packets in the place of those that wait.
  mutating func begin(with new: [ArrivedPacket]) { packets = new }

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
    let isNewFrame = beginsFrame(packet)
    // A sender need not mark where its frames end: then the next one says so.
    let continues = wasMarked ? isNewFrame : !isNewFrame
    isFrameOpen =
      isVideo && isNext && continues && !packet.marker && !packet.isPaddingOnly && packets.count < Self.limit
    if !isNext || isNewFrame { wholeFrame = isNext && wasMarked ? 0 : nil }
    wholeFrame = wholeFrame.map { $0 + 1 }
    (lastTimestamp, wasMarked) = (packet.timestamp, packet.marker)
  }

  /// Whether the newest frame stays without its end: a server changes over to another layer in the middle of a frame, and
  /// its numbers go on as if nothing were missing.
  private func isCutOff(by keyframe: RTPPacket) -> Bool {
    !wasMarked && beginsFrame(keyframe) && newest?.successor == keyframe.sequenceNumber
  }

  /// Takes the contents out of the newest frame's packets, which a decoder would take for a whole one. Their numbers stay,
  /// since those behind would wait for what is missing.
  private mutating func blank(_ count: Int, before next: RTPPacket, at time: MediaTime) {
    for index in packets.indices.suffix(count) {
      let packet = RTPPacket(
        payloadType: next.payloadType, sequenceNumber: next.sequenceNumber + (index - packets.count),
        timestamp: lastTimestamp ?? next.timestamp, ssrc: next.ssrc, payload: [])
      packets[index] = ArrivedPacket(packet, at: time)
    }
    // It has its end, so that the next frame is followed from its beginning and may be cut off in turn.
    wasMarked = true
  }
}
