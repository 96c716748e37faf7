public import Bitstream

/// What packets carry of a codec's frames.
extension VideoCodec {
  /// True for the payload of a packet with which a frame begins that needs no other: where a decoder can start.
  public func startsKeyframe(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard !payload.isEmpty else { return false }
    switch self {
    case .vp8: return VP8Descriptor(payload)?.startsKeyframe ?? false
    case .vp9: return Self.vp9StartsKeyframe(payload)
    case .h264: return Self.h264Starts(payload) { $0.startsKeyframe }
    case .h265: return Self.h265Starts(payload) { $0.startsKeyframe }
    case .av1: return Self.av1StartsKeyframe(payload)
    }
  }

  /// What a payload has of the beginning of a keyframe; nil where that is nothing. The first slice in it decides, and
  /// whether parameter sets are before that: those behind it belong to the next slice.
  public func keyframePart(_ payload: UnsafeRawBufferPointer) -> KeyframePart? {
    guard !payload.isEmpty else { return nil }
    switch self {
    case .h264: return Self.h264KeyframePart(payload)
    case .h265: return Self.h265KeyframePart(payload)
    case .vp8, .vp9, .av1: return startsKeyframe(payload) ? .beginning : nil
    }
  }

  /// The temporal layer of the frame that a payload begins, where the payload says it: VP8's TID (RFC 7741, 4.2).
  public func temporalLayer(ofFrameBegunBy payload: UnsafeRawBufferPointer) -> UInt8? {
    guard self == .vp8, let descriptor = VP8Descriptor(payload), descriptor.startsFrame else { return nil }
    return descriptor.temporalLayer
  }

  /// True for a whole blank frame in one payload, as a LiveKit server sends them: H.264's begins with its parameters.
  public func isBlankFrame(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard payload.count < Self.blankLimit, let unit = Self.blankUnit(self, in: payload) else { return false }
    return beginsBlankFrame(unit)
  }
  private static let blankLimit = 200

  /// Whether frames are sent in another order than they are shown; nil for a payload that does not say so, which only a
  /// keyframe of H.264 does, in its parameter set.
  public func reordersFrames(_ payload: UnsafeRawBufferPointer) -> Bool? {
    guard self == .h264, let first = payload.first else { return nil }
    guard first & 31 == Self.h264Aggregate else { return reordersFrames(unit: payload) }
    var said: Bool?
    Self.forEachUnit(in: payload, from: 1) { unit in
      said = reordersFrames(unit: unit)
      return said == nil
    }
    return said
  }

  /// True for a payload that says that pictures have several spatial layers, each of which is a frame of its own in the
  /// same stream: of VP9 any of an upper layer, and what begins a keyframe. Temporal layers are none, nor is simulcast,
  /// whose layers are streams of their own.
  public func hasSpatialLayers(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard self == .vp9, let head = VP9Descriptor(payload) else { return false }
    return head.spatialLayer > 0 || head.spatialLayers ?? 1 > 1
  }

  /// True for the payload that brings the parameter sets (H.264's type 7, H.265's 32 and 33) which encoders put before
  /// each keyframe; nil for codecs that have none.
  func startsParameterSets(_ payload: UnsafeRawBufferPointer) -> Bool? {
    switch self {
    case .h264: !payload.isEmpty && Self.h264Starts(payload) { $0 == .sequenceParameters }
    case .h265: !payload.isEmpty && Self.h265Starts(payload) { $0.isParameterSet }
    case .vp8, .vp9, .av1: nil
    }
  }

  /// What may begin a blank frame: a VP8 keyframe, or the first unit of a STAP-A packet (RFC 6184, 5.7.1).
  private static func blankUnit(_ codec: VideoCodec, in payload: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    switch codec {
    case .vp8:
      guard let descriptor = VP8Descriptor(payload), descriptor.startsKeyframe else { return nil }
      return UnsafeRawBufferPointer(rebasing: payload[descriptor.length...])
    case .h264:
      guard payload.count > 3, payload[0] & 31 == h264Aggregate else { return nil }
      let length = Int(payload.load16(at: 1))
      guard 3 + length <= payload.count else { return nil }
      return UnsafeRawBufferPointer(rebasing: payload[3..<(3 + length)])
    case .vp9, .h265, .av1: return nil
    }
  }

  /// RFC 9628, 4.2: the beginning of a frame of the lowest spatial layer that is not predicted from another one. The
  /// descriptor of some senders never says that it is, as pion's in flexible mode: so the frame has to say so, too.
  private static func vp9StartsKeyframe(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard let head = VP9Descriptor(payload), head.startsFrame, !head.isPredicted, head.spatialLayer == 0,
      head.length < payload.count
    else { return false }
    return VP9FrameHeader.isKeyframe(firstByte: payload[head.length])
  }

  private static let h264Aggregate: UInt8 = 24

  /// RFC 6184, 5.2: what units begin in a payload: alone, aggregated, or in their first fragment.
  /// - Parameter body: gets the type of each, and the first byte behind its header, until it returns false.
  private static func forEachH264Start(
    in payload: UnsafeRawBufferPointer, _ body: (H264NALType, UInt8?) -> Bool
  ) {
    switch payload[0] & 31 {
    case h264Aggregate:
      forEachUnit(in: payload, from: 1) { body(H264NALType(firstByte: $0[0]), $0.dropFirst().first) }
    case 28:
      guard payload.count > 1, payload[1] & 0x80 != 0 else { return }
      _ = body(H264NALType(firstByte: payload[1]), payload.dropFirst(2).first)
    default: _ = body(H264NALType(firstByte: payload[0]), payload.dropFirst().first)
    }
  }

  /// RFC 7798, 4.4: the same for H.265, whose units have two bytes of header.
  private static func forEachH265Start(
    in payload: UnsafeRawBufferPointer, _ body: (H265NALType, UInt8?) -> Bool
  ) {
    switch payload[0] >> 1 & 63 {
    case 48:
      forEachUnit(in: payload, from: 2) { body(H265NALType(firstByte: $0[0]), $0.dropFirst(2).first) }
    case 49:
      guard payload.count > 2, payload[2] & 0x80 != 0 else { return }
      _ = body(H265NALType(fragmentHeader: payload[2]), payload.dropFirst(3).first)
    default: _ = body(H265NALType(firstByte: payload[0]), payload.dropFirst(2).first)
    }
  }

  private static func h264Starts(_ payload: UnsafeRawBufferPointer, _ isWanted: (H264NALType) -> Bool) -> Bool {
    var isFound = false
    forEachH264Start(in: payload) { type, _ in
      isFound = isWanted(type)
      return !isFound
    }
    return isFound
  }

  private static func h265Starts(_ payload: UnsafeRawBufferPointer, _ isWanted: (H265NALType) -> Bool) -> Bool {
    var isFound = false
    forEachH265Start(in: payload) { type, _ in
      isFound = isWanted(type)
      return !isFound
    }
    return isFound
  }

  private static func h264KeyframePart(_ payload: UnsafeRawBufferPointer) -> KeyframePart? {
    var found: KeyframePart?
    forEachH264Start(in: payload) { type, next in
      if type == .sequenceParameters { found = .parameterSets }
      guard type == .idrSlice else { return true }
      found = KeyframePart.joined(found, with: slice(next))
      return false
    }
    return found
  }

  private static func h265KeyframePart(_ payload: UnsafeRawBufferPointer) -> KeyframePart? {
    var found: KeyframePart?
    forEachH265Start(in: payload) { type, next in
      if type.isParameterSet { found = .parameterSets }
      guard type.isKeyframeSlice else { return true }
      found = KeyframePart.joined(found, with: slice(next))
      return false
    }
    return found
  }

  /// ITU-T H.264, 7.3.3, and H.265, 7.3.6.1: behind its header a slice says in a bit whether the frame begins with it.
  private static func slice(_ next: UInt8?) -> KeyframePart { (next ?? 0) & 0x80 != 0 ? .firstSlice : .laterSlice }

  /// The AV1 RTP specification, 4.4: N says that a coded video sequence begins; Z that its start was elsewhere.
  private static func av1StartsKeyframe(_ payload: UnsafeRawBufferPointer) -> Bool {
    payload[0] & 0x88 == 0x08
  }

  /// Looks through units that stand behind 16-bit lengths, none of which is empty.
  /// - Parameter body: gets units until it returns false; one that is cut off as far as it is there.
  private static func forEachUnit(
    in payload: UnsafeRawBufferPointer, from start: Int, _ body: (UnsafeRawBufferPointer) -> Bool
  ) {
    var offset = start
    while offset + 2 < payload.count {
      let length = Int(payload.load16(at: offset))
      guard length > 0 else { return }
      let end = min(offset + 2 + length, payload.count)
      guard body(UnsafeRawBufferPointer(rebasing: payload[(offset + 2)..<end])) else { return }
      offset += 2 + length
    }
  }
}
