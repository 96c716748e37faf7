/// The head of a VP9 payload (RFC 9628, 4.2).
struct VP9Descriptor: Equatable {
  /// P: whether the frame needs an earlier picture.
  let isPredicted: Bool
  /// B: whether a frame begins, which each spatial layer of a picture has one of.
  let startsFrame: Bool
  /// E: whether it ends.
  let endsFrame: Bool
  private(set) var pictureID: UInt16?
  /// The picture id goes round in these bits: 7 or 15.
  private(set) var pictureIDBits: UInt16 = 0x7f
  /// SID; 0 where layers are not told apart.
  private(set) var spatialLayer: UInt8 = 0
  /// Where the byte is that tells layers apart; nil where none does.
  private(set) var layerIndex: Int?
  /// How many spatial layers each picture has, as the structure says that comes with keyframes.
  private(set) var spatialLayers: Int?
  /// In bytes; behind it is the frame.
  private(set) var length = 1

  init?(_ payload: UnsafeRawBufferPointer) {
    guard let flags = payload.first else { return nil }
    (isPredicted, startsFrame, endsFrame) = (flags & 0x40 != 0, flags & 0x08 != 0, flags & 0x04 != 0)
    let isFlexible = flags & 0x10 != 0
    if flags & 0x80 != 0 {
      guard readPictureID(payload) else { return nil }
    }
    if flags & 0x20 != 0 {
      guard length < payload.count else { return nil }
      (layerIndex, spatialLayer) = (length, payload[length] >> 1 & 7)
      // The index of the base layer is there outside flexible mode alone.
      length += isFlexible ? 1 : 2
    }
    if isFlexible, isPredicted { skipReferences(payload) }
    if flags & 0x02 != 0 {
      guard readStructure(payload) else { return nil }
    }
    guard length <= payload.count else { return nil }
  }

  private mutating func readPictureID(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard payload.count > 1 else { return false }
    let isLong = payload[1] & 0x80 != 0
    guard payload.count > 2 || !isLong else { return false }
    (pictureID, pictureIDBits) = isLong ? (payload.load16(at: 1) & 0x7fff, 0x7fff) : (UInt16(payload[1]), 0x7f)
    length += isLong ? 2 : 1
    return true
  }

  /// P_DIFF: three at most, each of which says whether another one follows.
  private mutating func skipReferences(_ payload: UnsafeRawBufferPointer) {
    for _ in 0..<3 where length < payload.count {
      length += 1
      if payload[length - 1] & 1 == 0 { return }
    }
  }

  /// The scalability structure (RFC 9628, 4.2.1).
  private mutating func readStructure(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard length < payload.count else { return false }
    let head = payload[length]
    let layers = Int(head >> 5) + 1
    spatialLayers = layers
    length += 1
    if head & 0x10 != 0 { length += 4 * layers }
    guard head & 0x08 != 0 else { return true }
    guard length < payload.count else { return false }
    let pictures = payload[length]
    length += 1
    for _ in 0..<pictures {
      guard length < payload.count else { return false }
      length += 1 + Int(payload[length] >> 2 & 3)
    }
    return true
  }
}

extension RTPPacket {
  /// Says of a VP9 frame of a higher spatial layer that it is predicted from the one below (D in RFC 9628, 4.2). In KEY
  /// modes it is not, and GStreamer's `rtpvp9depay` takes such a frame for the beginning of another picture, and drops
  /// what it has of this one. Decoders do not see it. For a packet that is not the first of its picture; it is edited in
  /// place.
  public func joinVP9Layers() {
    withMutablePayload { payload in
      guard let descriptor = VP9Descriptor(UnsafeRawBufferPointer(payload)), descriptor.spatialLayer > 0,
        let index = descriptor.layerIndex
      else { return }
      payload[index] |= 1
    }
  }
}
