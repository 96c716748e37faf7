/// The memory of one packet: a single heap allocation that holds the reference count, the length and the bytes, so
/// that a packet can travel from the socket into GStreamer without a further allocation.
///
/// `@unchecked Sendable`: one owner fills and edits a buffer; once it is handed on it is only read. Whoever needs to
/// edit a packet that others may hold takes a `copy()`.
public struct PacketBuffer: @unchecked Sendable {
  /// Room for the largest datagram we take (an Ethernet frame).
  public static let maximumDatagram = 1500
  /// Spare bytes behind a packet for the authentication tag and MKI (`SRTP_MAX_TRAILER_LEN` of libsrtp 2.5 is 144).
  public static let trailer = 144

  private struct Extent {
    var count: Int
    let capacity: Int
  }
  private let storage: ManagedBuffer<Extent, UInt8>

  /// An empty buffer with room for `capacity` bytes and the trailer behind them.
  public init(capacity: Int = PacketBuffer.maximumDatagram) {
    let total = max(capacity, 0) + PacketBuffer.trailer
    storage = .create(minimumCapacity: total) { _ in Extent(count: 0, capacity: total) }
  }

  /// With as much room as the bytes take, and the trailer behind them.
  public init(copying bytes: UnsafeRawBufferPointer) {
    self.init(capacity: bytes.count)
    withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
    count = bytes.count
  }

  /// With as much room as the bytes take, and the trailer behind them.
  public init(copying bytes: some Sequence<UInt8>) {
    self = Array(bytes).withUnsafeBytes { PacketBuffer(copying: $0) }
  }

  /// Bytes in use, at most `capacity`.
  public var count: Int {
    get { storage.header.count }
    nonmutating set {
      precondition(newValue >= 0 && newValue <= capacity, "packet length outside its buffer")
      storage.header.count = newValue
    }
  }

  /// Bytes that are there, the trailer included.
  public var capacity: Int { storage.header.capacity }

  /// The bytes in use.
  @inline(__always)
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try storage.withUnsafeMutablePointers { try body(UnsafeRawBufferPointer(start: $1, count: $0.pointee.count)) }
  }

  /// All bytes that are there, the unused ones included.
  @inline(__always)
  public func withUnsafeMutableBytes<R>(_ body: (UnsafeMutableRawBufferPointer) throws -> R) rethrows -> R {
    try storage.withUnsafeMutablePointers {
      try body(UnsafeMutableRawBufferPointer(start: $1, count: $0.pointee.capacity))
    }
  }

  /// The bytes in use, in memory of their own.
  public func copy() -> PacketBuffer { withUnsafeBytes { PacketBuffer(copying: $0) } }

  /// The object that owns the memory, for handing the bytes to C: while it is retained their address is fixed.
  public var owner: AnyObject { storage }
}
