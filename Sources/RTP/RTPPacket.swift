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
