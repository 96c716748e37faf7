public import MediaCore

extension RTPPacket {
  /// Makes a packet.
  /// - Parameters:
  ///   - extensions: elements of a one-byte header extension (RFC 8285, 4.2): ids 1…14, values of 1…16 bytes; others
  ///     are left out.
  ///   - padding: bytes of padding behind the payload, 0…255 (RFC 3550, 5.1).
  public init(
    payloadType: PayloadType, sequenceNumber: SequenceNumber, timestamp: UInt32, ssrc: SSRC, marker: Bool = false,
    extensions: [(id: UInt8, value: [UInt8])] = [], payload: UnsafeRawBufferPointer, padding: UInt8 = 0
  ) {
    let elements = ExtensionWriter(extensions)
    let headerLength = RTPHeader.fixedLength + elements.length
    let buffer = PacketBuffer(capacity: headerLength + payload.count + Int(padding))
    buffer.count = headerLength + payload.count + Int(padding)
    let header = RTPHeader(
      marker: marker, payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: timestamp, ssrc: ssrc,
      length: headerLength, padding: Int(padding), extensionBlock: elements.block)
    buffer.withUnsafeMutableBytes { bytes in
      bytes[0] = 0x80 | (elements.isEmpty ? 0 : 0x10) | (padding > 0 ? 0x20 : 0)
      elements.write(to: UnsafeMutableRawBufferPointer(rebasing: bytes[RTPHeader.fixedLength..<headerLength]))
      UnsafeMutableRawBufferPointer(rebasing: bytes[headerLength...]).copyMemory(from: payload)
      if padding > 0 {
        for offset in (headerLength + payload.count)..<(buffer.count - 1) { bytes[offset] = 0 }
        bytes[buffer.count - 1] = padding
      }
    }
    self.init(buffer: buffer, start: 0, count: buffer.count, header: header)
    storeHeader()
  }

  /// Makes a packet of another stream around the payload of one that was written elsewhere, whose timestamp and marker it
  /// keeps.
  /// - Returns: nil for what is no RTP, or has no payload.
  public init?(
    repacking bytes: UnsafeRawBufferPointer, payloadType: PayloadType, sequenceNumber: SequenceNumber, ssrc: SSRC,
    extensions: [(id: UInt8, value: [UInt8])] = []
  ) {
    guard let (header, payload) = RTPHeader.payload(of: bytes) else { return nil }
    self.init(
      payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: header.timestamp, ssrc: ssrc,
      marker: header.marker, extensions: extensions, payload: payload)
  }

  /// Makes a packet around `payload`.
  public init(
    payloadType: PayloadType, sequenceNumber: SequenceNumber, timestamp: UInt32, ssrc: SSRC, marker: Bool = false,
    extensions: [(id: UInt8, value: [UInt8])] = [], payload: [UInt8], padding: UInt8 = 0
  ) {
    self = payload.withUnsafeBytes {
      RTPPacket(
        payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: timestamp, ssrc: ssrc, marker: marker,
        extensions: extensions, payload: $0, padding: padding)
    }
  }
}

extension RTPHeader {
  /// Header and payload of a packet; nil for what is no RTP, or has no payload.
  static func payload(of bytes: UnsafeRawBufferPointer) -> (RTPHeader, UnsafeRawBufferPointer)? {
    guard case .success(let header) = parse(bytes), header.length + header.padding < bytes.count else { return nil }
    return (header, UnsafeRawBufferPointer(rebasing: bytes[header.length..<(bytes.count - header.padding)]))
  }
}

/// The one-byte form of the header extension (RFC 8285, 4.2).
private struct ExtensionWriter {
  static let profile: UInt16 = 0xbede
  private let elements: [(id: UInt8, value: [UInt8])]
  private let words: Int

  init(_ extensions: [(id: UInt8, value: [UInt8])]) {
    elements = extensions.filter { (1...14).contains($0.id) && (1...16).contains($0.value.count) }
    words = (elements.reduce(0) { $0 + 1 + $1.value.count } + 3) / 4
  }

  var isEmpty: Bool { elements.isEmpty }
  var length: Int { isEmpty ? 0 : 4 + 4 * words }
  var block: RTPPacket.ExtensionBlock? {
    isEmpty ? nil : .init(profile: Self.profile, offset: RTPHeader.fixedLength + 4, count: 4 * words)
  }

  func write(to bytes: UnsafeMutableRawBufferPointer) {
    guard !isEmpty else { return }
    for index in bytes.indices { bytes[index] = 0 }
    bytes.store(Self.profile, at: 0)
    bytes.store(UInt16(words), at: 2)
    var offset = 4
    for (id, value) in elements {
      bytes[offset] = id << 4 | UInt8(value.count - 1)
      UnsafeMutableRawBufferPointer(rebasing: bytes[(offset + 1)...]).copyBytes(from: value)
      offset += 1 + value.count
    }
  }
}
