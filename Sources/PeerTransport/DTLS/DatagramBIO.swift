import COpenSSL
import Glibc

/// OpenSSL's view of a datagram socket: each write leaves as one datagram, each read takes one.
final class DatagramBIO {
  /// How many datagrams wait for the handshake at the most; more than that is not a handshake.
  private static let queueLimit = 64

  private var incoming: [[UInt8]] = []
  private let send: (UnsafeRawBufferPointer) -> Void
  /// Owned by the `SSL` that it is given to.
  private(set) var bio: OpaquePointer?

  init(send: @escaping (UnsafeRawBufferPointer) -> Void) {
    self.send = send
    bio = BIO_new(Self.method.pointer)
    BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    BIO_set_init(bio, 1)
  }

  func feed(_ datagram: UnsafeRawBufferPointer) {
    if incoming.count < Self.queueLimit { incoming.append(Array(datagram)) }
  }

  /// `@unchecked Sendable`: made once and only read afterwards.
  private struct Method: @unchecked Sendable {
    let pointer: OpaquePointer?
  }

  private static let method: Method = {
    let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams")
    BIO_meth_set_create(method) { bio in
      BIO_set_init(bio, 1)
      return 1
    }
    BIO_meth_set_write(method) { bio, bytes, count in
      guard let bytes, count > 0 else { return 0 }
      DatagramBIO.from(bio).send(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
      return count
    }
    BIO_meth_set_read(method) { bio, bytes, count in
      BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
      let owner = DatagramBIO.from(bio)
      guard let bytes, !owner.incoming.isEmpty else {
        BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
        return -1
      }
      let datagram = owner.incoming.removeFirst()
      let taken = min(Int(count), datagram.count)
      UnsafeMutableRawBufferPointer(start: bytes, count: taken).copyBytes(from: datagram.prefix(taken))
      return Int32(taken)
    }
    BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
    return Method(pointer: method)
  }()

  /// Sound: the BIO is freed with the `SSL` of the transport that owns this object.
  private static func from(_ bio: OpaquePointer?) -> DatagramBIO {
    Unmanaged<DatagramBIO>.fromOpaque(BIO_get_data(bio)!).takeUnretainedValue()
  }
}
