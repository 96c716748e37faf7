public import MediaCore

/// One RTP packet (RFC 3550, 5.1): a window onto a `PacketBuffer` with its header read once.
///
/// Taking a packet apart (RTX, RED) moves the window; the bytes of the payload stay where the socket put them.
public struct RTPPacket: Sendable {
  /// The memory that the socket filled, with this packet somewhere in it.
  public internal(set) var buffer: PacketBuffer
  /// Where the packet starts within the buffer.
  public internal(set) var start: Int
  /// Bytes of the whole packet, header and padding included.
  public internal(set) var count: Int

  /// For video: the last packet of a frame. For audio: speech begins again (RFC 3551, 4.1 and 5).
  public internal(set) var marker: Bool
  /// Which of the negotiated formats the payload is in.
  public internal(set) var payloadType: PayloadType
  /// One more for each packet of the stream, around 65,536.
  public internal(set) var sequenceNumber: SequenceNumber
  /// When the media was captured, in ticks of the format's clock from a random start; wraps.
  public internal(set) var timestamp: UInt32
  /// The stream that the packet is of.
  public internal(set) var ssrc: SSRC
  /// Bytes before the payload: fixed header, CSRCs and extension.
  public internal(set) var headerLength: Int
  /// Bytes of padding at the end.
  public internal(set) var paddingLength: Int
  /// Where the elements of the header extension stand, counted from `start`, and its profile (RFC 8285); nil if none.
  var extensionBlock: ExtensionBlock?

  /// Where the elements of a header extension lie.
  struct ExtensionBlock: Sendable, Equatable {
    /// 0xBEDE for the one-byte form, 0x100x for the two-byte form.
    var profile: UInt16
    /// Of the first element, counted from the packet's start.
    var offset: Int
    /// Bytes of all elements, padding included.
    var count: Int
  }

  /// Bytes of payload, without padding.
  public var payloadLength: Int { count - headerLength - paddingLength }
  /// True for a packet that only keeps a number: it carries nothing to decode, yet whoever counts must see it.
  public var isPaddingOnly: Bool { payloadLength == 0 }

  /// Reads the header of a received packet.
  public init(parsing buffer: PacketBuffer) throws(RTPParseError) {
    let parsed = buffer.withUnsafeBytes { RTPHeader.parse($0) }
    let header = try parsed.get()
    self.init(buffer: buffer, start: 0, count: buffer.count, header: header)
  }

  init(buffer: PacketBuffer, start: Int, count: Int, header: RTPHeader) {
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

  /// True when the first two bytes of an SRTP or SRTCP packet mean RTCP (RFC 5761, 4).
  public static func isRTCP(first: UInt8, second: UInt8) -> Bool {
    first >> 6 == 2 && (192...223).contains(second)
  }

  /// The whole packet.
  @inline(__always)
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try buffer.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start..<(start + count)])) }
  }

  /// The payload for the time of the call.
  @inline(__always)
  public func withPayload<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try withUnsafeBytes {
      try body(UnsafeRawBufferPointer(rebasing: $0[headerLength..<(headerLength + payloadLength)]))
    }
  }
}

/// Why bytes are not an RTP packet. The blame is the sender's.
public enum RTPParseError: Error, Equatable, Sendable {
  /// Fewer bytes than the fixed header has: 12.
  case tooShort
  /// The version is not 2.
  case version
  /// Contributing sources or the header extension reach beyond the end.
  case headerExceedsPacket
  /// There is more padding than packet.
  case paddingExceedsPacket
}
