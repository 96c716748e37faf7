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
  /// In which form frames are sent.
  let form = FrameForm()
  private let onOtherCodec: (String) -> Void
  private var otherCodec: String?
  /// What has come of that codec, as much as waits for a pipeline.
  private var unread: [ArrivedPacket] = []
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
  mutating func readable(_ packet: RTPPacket, at time: MediaTime) -> RTPPacket? {
    note(packet.sequenceNumber)
    guard packet.payloadType != payloadType, let other = codecs[packet.payloadType] else { return packet }
    guard other == codec else {
      // Without a payload it only keeps a path open or probes it, and what comes late may be of the codec before this one.
      if otherCodec == other || isNewest && !packet.isPaddingOnly { keep(packet, of: other, at: time) }
      return nil
    }
    var packet = packet
    packet.rewrite(payloadType: payloadType)
    return packet
  }

  private mutating func keep(_ packet: RTPPacket, of other: String, at time: MediaTime) {
    if otherCodec != other || unread.count == PacketBacklog.videoLimit { unread.removeAll() }
    unread.append(ArrivedPacket(packet.fitting, at: time))
    guard otherCodec != other else { return }
    otherCodec = other
    onOtherCodec(other)
  }

  /// What has come of another codec, from the keyframe on with which it began: for whoever reads it from now on.
  mutating func takeUnread() -> [ArrivedPacket] {
    defer { unread = [] }
    return unread
  }

  /// - Returns: what was counted, without what waits unread: whoever reads that counts it.
  func read(of statistics: RTPReceiver.Statistics) -> RTPReceiver.Statistics {
    var read = statistics
    for arrived in unread where !arrived.packet.isPaddingOnly {
      read.packetsReceived -= 1
      read.bytesReceived -= arrived.packet.payloadLength
    }
    return read
  }

  private mutating func note(_ number: SequenceNumber) {
    isNewest = newest.map { number.distance(from: $0) >= 0 } ?? true
    if isNewest { newest = number }
  }

  /// What comes now has nothing to do with what came before.
  mutating func restart() { newest = nil }

  /// Has a packet that is not the first of its frame go on with that, whichever layer it is of; nil where none has to.
  var continuesFrame: ((RTPPacket) -> Void)? { videoCodec == .vp9 ? { $0.joinVP9Layers() } : nil }

  /// Looks what a packet says of the form of frames.
  /// - Parameter beginsKeyframe: whether a keyframe begins with it, which says in which order frames are sent.
  func noteForm(_ packet: RTPPacket, beginsKeyframe: Bool) {
    guard let videoCodec else { return }
    if !form.isLayered, packet.withPayload({ videoCodec.hasSpatialLayers($0) }) { form.noteLayers() }
    guard beginsKeyframe, let isReordered = packet.withPayload({ videoCodec.reordersFrames($0) }) else { return }
    form.note(isReordered: isReordered)
  }

  /// Whether a keyframe begins with the packet.
  func beginsKeyframe(_ packet: RTPPacket) -> Bool {
    packet.payloadLength > 0 && packet.withPayload { videoCodec?.startsKeyframe($0) ?? false }
  }

  /// What a packet has of the beginning of a keyframe.
  func keyframePart(_ packet: RTPPacket) -> KeyframePart? { packet.withPayload { videoCodec?.keyframePart($0) } }
}
