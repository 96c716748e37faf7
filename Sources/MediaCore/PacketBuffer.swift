/// The memory of one packet: a single heap allocation that holds the reference count, the length and the bytes, so
/// that a packet can travel from the socket into GStreamer without a further allocation.
///
/// `@unchecked Sendable`: one owner fills and edits a buffer; once it is handed on it is only read. Whoever needs to
/// edit a packet that others may hold takes a `copy()`.
public final class PacketBuffer: ManagedBuffer<PacketBuffer.Extent, UInt8>, @unchecked Sendable {
  /// How many bytes are in use and how many there are.
  public struct Extent: Sendable {
    var count: Int
    let capacity: Int
  }

  /// Room for the largest datagram we take (an Ethernet frame).
  public static let maximumDatagram = 1500
  /// Spare bytes behind a packet for the authentication tag and MKI (`SRTP_MAX_TRAILER_LEN` of libsrtp 2.5 is 144).
  public static let trailer = 144

  /// An empty buffer with room for `capacity` bytes and the trailer behind them.
  public static func allocate(capacity: Int = maximumDatagram) -> PacketBuffer {
    let total = capacity + trailer
    let buffer = PacketBuffer.create(minimumCapacity: total) { _ in Extent(count: 0, capacity: total) }
    // `create` makes an instance of the class it is called on and only its static type says less.
    return unsafeDowncast(buffer, to: PacketBuffer.self)
  }

  public static func copying(_ bytes: UnsafeRawBufferPointer) -> PacketBuffer {
    let buffer = allocate(capacity: max(bytes.count, 64))
    buffer.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
    buffer.count = bytes.count
    return buffer
  }

  public static func copying(_ bytes: some Sequence<UInt8>) -> PacketBuffer {
    Array(bytes).withUnsafeBytes { copying($0) }
  }

  /// Bytes in use, at most `capacity`.
  public var count: Int {
    get { header.count }
    set {
      precondition(newValue >= 0 && newValue <= header.capacity, "packet length outside its buffer")
      header.count = newValue
    }
  }

  /// Bytes that are there, the trailer included.
  public var byteCapacity: Int { header.capacity }

  /// The bytes in use.
  @inline(__always)
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try withUnsafeMutablePointers { try body(UnsafeRawBufferPointer(start: $1, count: $0.pointee.count)) }
  }

  /// All bytes that are there, the unused ones included.
  @inline(__always)
  public func withUnsafeMutableBytes<R>(_ body: (UnsafeMutableRawBufferPointer) throws -> R) rethrows -> R {
    try withUnsafeMutablePointers { try body(UnsafeMutableRawBufferPointer(start: $1, count: $0.pointee.capacity)) }
  }

  public func copy() -> PacketBuffer { withUnsafeBytes { PacketBuffer.copying($0) } }
}
