public import MediaCore

/// One RTP packet (RFC 3550, 5.1): a window onto a `PacketBuffer` with its header read once.
///
/// Taking a packet apart (RTX, RED) moves the window; the bytes stay where the socket put them.
public struct RTPPacket: Sendable {
  public private(set) var buffer: PacketBuffer
  /// Where the packet starts within the buffer.
  public private(set) var start: Int
  /// Bytes of the whole packet, header and padding included.
  public private(set) var count: Int

  public private(set) var marker: Bool
  public private(set) var payloadType: PayloadType
  public private(set) var sequenceNumber: SequenceNumber
  public private(set) var timestamp: UInt32
  public private(set) var ssrc: SSRC
  /// Bytes before the payload: fixed header, CSRCs and extension.
  public private(set) var headerLength: Int
  /// Bytes of padding at the end.
  public private(set) var paddingLength: Int
  /// Where the elements of the header extension stand, counted from `start`, and its profile (RFC 8285); nil if none.
  public private(set) var extensionBlock: ExtensionBlock?

  public struct ExtensionBlock: Sendable, Equatable {
    public var profile: UInt16
    public var offset: Int
    public var count: Int
  }

  public var payloadLength: Int { count - headerLength - paddingLength }
}

/// Why bytes are not an RTP packet. The blame is the sender's.
public enum RTPParseError: Error, Equatable, Sendable {
  case tooShort
  case version
  case headerExceedsPacket
  case paddingExceedsPacket
}

extension RTPPacket {
  /// Reads the header of a received packet.
  public init(parsing buffer: PacketBuffer) throws(RTPParseError) {
    let parsed = buffer.withUnsafeBytes { Header.parse($0) }
    let header = try parsed.get()
    self.init(buffer: buffer, start: 0, count: buffer.count, header: header)
  }

  private init(buffer: PacketBuffer, start: Int, count: Int, header: Header) {
    self.buffer = buffer
    self.start = start
    self.count = count
    marker = header.marker
    payloadType = header.payloadType
    sequenceNumber = header.sequenceNumber
    timestamp = header.timestamp
    ssrc = header.ssrc
    headerLength = header.length
    paddingLength = header.padding
    extensionBlock = header.extensionBlock
  }

  /// Makes a packet.
  /// - Parameter extensions: elements of a one-byte header extension (RFC 8285, 4.2): ids 1…14, values of 1…16 bytes;
  ///   others are left out.
  public init(
    payloadType: PayloadType, sequenceNumber: SequenceNumber, timestamp: UInt32, ssrc: SSRC, marker: Bool = false,
    extensions: [(id: UInt8, value: [UInt8])] = [], payload: UnsafeRawBufferPointer
  ) {
    let usable = extensions.filter { (1...14).contains($0.id) && (1...16).contains($0.value.count) }
    let elements = usable.reduce(0) { $0 + 1 + $1.value.count }
    let words = (elements + 3) / 4
    let headerLength = 12 + (usable.isEmpty ? 0 : 4 + 4 * words)
    let buffer = PacketBuffer(capacity: headerLength + payload.count)
    buffer.withUnsafeMutableBytes { bytes in
      bytes[0] = usable.isEmpty ? 0x80 : 0x90
      bytes[1] = (marker ? 0x80 : 0) | payloadType.rawValue
      bytes.store(sequenceNumber.rawValue, at: 2)
      bytes.store(timestamp, at: 4)
      bytes.store(ssrc.rawValue, at: 8)
      if !usable.isEmpty {
        bytes.store(UInt16(0xbede), at: 12)
        bytes.store(UInt16(words), at: 14)
        var offset = 16
        for (id, value) in usable {
          bytes[offset] = id << 4 | UInt8(value.count - 1)
          for (index, byte) in value.enumerated() { bytes[offset + 1 + index] = byte }
          offset += 1 + value.count
        }
        while offset < headerLength {
          bytes[offset] = 0
          offset += 1
        }
      }
      UnsafeMutableRawBufferPointer(rebasing: bytes[headerLength...]).copyMemory(from: payload)
    }
    buffer.count = headerLength + payload.count
    self.init(
      buffer: buffer, start: 0, count: buffer.count,
      header: Header(
        marker: marker, payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: timestamp, ssrc: ssrc,
        length: headerLength, padding: 0,
        extensionBlock: usable.isEmpty ? nil : .init(profile: 0xbede, offset: 16, count: 4 * words)))
  }

  /// True when the first two bytes of an SRTP or SRTCP packet mean RTCP (RFC 5761, 4).
  public static func isRTCP(first: UInt8, second: UInt8) -> Bool { (192...223).contains(second) }

  /// The whole packet.
  @inline(__always)
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try buffer.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start..<(start + count)])) }
  }

  @inline(__always)
  public func withPayload<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[headerLength..<(headerLength + payloadLength)])) }
  }

  /// The same packet in memory of its own, to be edited.
  public func copy() -> RTPPacket {
    let copied = withUnsafeBytes { PacketBuffer(copying: $0) }
    var packet = self
    packet.buffer = copied
    packet.start = 0
    return packet
  }

  /// Writes header fields into the packet's memory, which nobody else may be reading.
  public mutating func rewrite(
    payloadType: PayloadType? = nil, sequenceNumber: SequenceNumber? = nil, timestamp: UInt32? = nil,
    ssrc: SSRC? = nil
  ) {
    self.payloadType = payloadType ?? self.payloadType
    self.sequenceNumber = sequenceNumber ?? self.sequenceNumber
    self.timestamp = timestamp ?? self.timestamp
    self.ssrc = ssrc ?? self.ssrc
    buffer.withUnsafeMutableBytes { bytes in
      bytes[start + 1] = (marker ? 0x80 : 0) | self.payloadType.rawValue
      bytes.store(self.sequenceNumber.rawValue, at: start + 2)
      bytes.store(self.timestamp, at: start + 4)
      bytes.store(self.ssrc.rawValue, at: start + 8)
    }
  }

  /// Takes a retransmission apart (RFC 4588, 4): the original number stands before the payload and moves into the
  /// header, which moves two bytes towards the payload; no byte of the payload moves.
  /// - Returns: nil for a retransmission too short to carry a number.
  public func unwrappingRetransmission(ssrc: SSRC, payloadType: PayloadType) -> RTPPacket? {
    guard payloadLength >= 2 else { return nil }
    var packet = self
    let original = withPayload { SequenceNumber($0.load16(at: 0)) }
    buffer.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      (base + start + 2).copyMemory(from: base + start, byteCount: headerLength)
    }
    packet.start += 2
    packet.count -= 2
    packet.rewrite(payloadType: payloadType, sequenceNumber: original, ssrc: ssrc)
    return packet
  }

  /// The value of header extension element `id` (RFC 8285) for the time of the call; nil when it is not there.
  public func withHeaderExtension<R>(_ id: UInt8, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
    guard let range = headerExtensionRange(id) else { return nil }
    return withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
  }

  private func headerExtensionRange(_ id: UInt8) -> Range<Int>? {
    guard let block = extensionBlock else { return nil }
    let isOneByte = block.profile == 0xbede
    guard isOneByte || block.profile & 0xfff0 == 0x1000 else { return nil }
    return withUnsafeBytes { bytes in
      var offset = block.offset
      let end = block.offset + block.count
      while offset < end {
        let first = bytes[offset]
        if first == 0 {
          offset += 1
          continue
        }
        if isOneByte && first >> 4 == 15 { return nil }
        guard isOneByte || offset + 1 < end else { return nil }
        let found = isOneByte ? first >> 4 : first
        let length = isOneByte ? Int(first & 15) + 1 : Int(bytes[offset + 1])
        let value = offset + (isOneByte ? 1 : 2)
        guard value + length <= end else { return nil }
        if found == id { return value..<(value + length) }
        offset = value + length
      }
      return nil
    }
  }
}

private struct Header {
  var marker: Bool
  var payloadType: PayloadType
  var sequenceNumber: SequenceNumber
  var timestamp: UInt32
  var ssrc: SSRC
  var length: Int
  var padding: Int
  var extensionBlock: RTPPacket.ExtensionBlock?

  static func parse(_ bytes: UnsafeRawBufferPointer) -> Result<Header, RTPParseError> {
    guard bytes.count >= 12 else { return .failure(.tooShort) }
    guard bytes[0] >> 6 == 2 else { return .failure(.version) }
    var length = 12 + 4 * Int(bytes[0] & 15)
    var block: RTPPacket.ExtensionBlock?
    if bytes[0] & 0x10 != 0 {
      guard bytes.count >= length + 4 else { return .failure(.headerExceedsPacket) }
      let count = 4 * Int(bytes.load16(at: length + 2))
      block = .init(profile: bytes.load16(at: length), offset: length + 4, count: count)
      length += 4 + count
    }
    guard bytes.count >= length else { return .failure(.headerExceedsPacket) }
    let padding = bytes[0] & 0x20 != 0 ? Int(bytes[bytes.count - 1]) : 0
    guard length + padding <= bytes.count else { return .failure(.paddingExceedsPacket) }
    return .success(
      Header(
        marker: bytes[1] & 0x80 != 0, payloadType: PayloadType(bytes[1]),
        sequenceNumber: SequenceNumber(bytes.load16(at: 2)), timestamp: bytes.load32(at: 4),
        ssrc: SSRC(bytes.load32(at: 8)), length: length, padding: padding, extensionBlock: block))
  }
}
