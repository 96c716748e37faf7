import Bitstream
import MediaCore
import RTP

/// Reads what packets carry, and lets through what the pipelines can read, under the one payload type that they see.
struct PayloadReader {
  private let codec: String
  /// Nil for audio, and for frames that we do not look into.
  private let videoCodec: Bitstream.VideoCodec?
  private let payloadType: PayloadType?
  /// The codec of each payload type: one codec has several where its variants are told apart, as H.264's profiles are.
  private let codecs: [PayloadType: String]
  /// In which order frames are sent.
  let order = FrameOrder()
  private let onOtherCodec: (String) -> Void
  private var otherCodec: String?
  /// The newest that came.
  private var newest: SequenceNumber?
  /// Whether what was read last is newer than all before it.
  private(set) var isNewest = false

  /// - Parameter onOtherCodec: told once when packets of another codec than `track.codec` come.
  init(_ track: OfferedTrack, onOtherCodec: @escaping (String) -> Void) {
    codec = track.codec
    videoCodec = Bitstream.VideoCodec(encodingName: track.codec)
    payloadType = track.format?.payloadType
    codecs = Dictionary(track.section.formats.map { ($0.payloadType, $0.codec.name) }) { first, _ in first }
    self.onOtherCodec = onOtherCodec
  }

  /// - Returns: nil for a packet that the pipelines cannot read.
  mutating func readable(_ packet: RTPPacket) -> RTPPacket? {
    note(packet.sequenceNumber)
    guard packet.payloadType != payloadType, let other = codecs[packet.payloadType] else { return packet }
    guard other == codec else {
      // Without a payload it only keeps a path open or probes it, and what comes late may be of the codec before this one.
      if !packet.isPaddingOnly, isNewest, otherCodec != other {
        otherCodec = other
        onOtherCodec(other)
      }
      return nil
    }
    var packet = packet
    packet.rewrite(payloadType: payloadType)
    return packet
  }

  private mutating func note(_ number: SequenceNumber) {
    isNewest = newest.map { number.distance(from: $0) >= 0 } ?? true
    if isNewest { newest = number }
  }

  /// What comes now has nothing to do with what came before.
  mutating func restart() { newest = nil }

  /// Looks what a packet that begins a keyframe says of the order.
  func noteOrder(_ packet: RTPPacket) {
    if let isReordered = packet.withPayload({ videoCodec?.reordersFrames($0) }) { order.note(isReordered) }
  }

  /// Whether a keyframe begins with the packet.
  func beginsKeyframe(_ packet: RTPPacket) -> Bool {
    packet.payloadLength > 0 && packet.withPayload { videoCodec?.startsKeyframe($0) ?? false }
  }

  /// Whether the packet is the first of a keyframe.
  func opensKeyframe(_ packet: RTPPacket) -> Bool {
    packet.payloadLength > 0 && packet.withPayload { videoCodec?.opensKeyframe($0) ?? false }
  }
}
