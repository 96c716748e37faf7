import Glibc

/// Bytes of a file, to be read at any place. What lies behind the end is not there: nothing a file says of itself is
/// believed.
struct ByteSource {
  let count: Int64
  private let load: (Int64, Int) -> [UInt8]

  /// - Parameter load: gets so many bytes at a place, all of which are before the end.
  init(count: Int64, load: @escaping (_ start: Int64, _ size: Int) -> [UInt8]) {
    (self.count, self.load) = (count, load)
  }

  init(_ bytes: [UInt8]) {
    self.init(count: Int64(bytes.count)) { start, size in Array(bytes[Int(start)..<Int(start) + size]) }
  }

  /// Reads with `pread`, so that a file's position stays.
  init(descriptor: Int32, count: Int64) {
    self.init(count: count) { start, size in
      [UInt8](unsafeUninitializedCapacity: size) { bytes, filled in
        filled = max(0, pread(descriptor, bytes.baseAddress, size, off_t(start)))
      }
    }
  }

  /// Those from `start` on, fewer than `size` at the end.
  func bytes(at start: Int64, _ size: Int) -> [UInt8] {
    guard start >= 0, start < count, size > 0 else { return [] }
    return load(start, Int(min(Int64(size), count - start)))
  }

  /// A number of up to 8 bytes, the highest first; nil where not all of them are there.
  func number(at start: Int64, _ size: Int) -> UInt64? {
    let bytes = bytes(at: start, size)
    return bytes.count == size ? bytes.reduce(0) { $0 << 8 | UInt64($1) } : nil
  }
}
