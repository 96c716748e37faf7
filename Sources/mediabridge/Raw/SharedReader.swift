import Foundation

/// Who reads a shared memory, and what is said between us, in the way of GStreamer's `shmsink` and `shmsrc`: commands of 24
/// bytes in the machine's own order.
///
/// | byte | what | of a memory | of a frame, and when it is given back |
/// |---|---|---|---|
/// | 0 | UInt32 | 1 | 3, and 4 |
/// | 4 | Int32 | number of the memory | the same |
/// | 8 | UInt64 | its bytes | where the frame begins |
/// | 16 | UInt64 | bytes of its name, which follows with a zero | bytes of the frame, and nothing |
struct SharedReader {
  private enum Command: UInt32 {
    case memory = 1
    case frame = 3
    case givenBack = 4
  }
  private static let length = 24
  /// How often is looked for more at once: far more than it holds frames.
  private static let turns = 4
  private static let number: Int32 = 1

  let descriptor: Int32
  /// Whether it was told which memory it is.
  var isIntroduced = false
  /// A command of which the rest is still to come.
  private var begun: [UInt8] = []

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  /// - Returns: false where it has gone.
  mutating func introduce(_ area: SharedArea) -> Bool {
    let name = Array(area.name.utf8) + [0]
    isIntroduced = true
    return send(Self.command(.memory, UInt64(area.size), UInt64(name.count)) + name)
  }

  /// - Returns: false where it has gone.
  func show(_ offset: Int, _ size: Int) -> Bool { send(Self.command(.frame, UInt64(offset), UInt64(size))) }

  private static func command(_ command: Command, _ first: UInt64, _ second: UInt64) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: length) { bytes, count in
      let bytes = UnsafeMutableRawBufferPointer(bytes)
      bytes.storeBytes(of: command.rawValue, as: UInt32.self)
      bytes.storeBytes(of: number, toByteOffset: 4, as: Int32.self)
      bytes.storeBytes(of: first, toByteOffset: 8, as: UInt64.self)
      bytes.storeBytes(of: second, toByteOffset: 16, as: UInt64.self)
      count = length
    }
  }

  /// So little waits that there is always room for it.
  private func send(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } == bytes.count
  }

  /// - Returns: where the frames begin that it has given back; nil where it has gone, or says what nobody understands.
  mutating func givenBack() -> [Int]? {
    var bytes = [UInt8](repeating: 0, count: 64 * Self.length)
    for _ in 0..<Self.turns {
      let count = bytes.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      if count < 0, errno == EAGAIN || errno == EINTR { break }
      guard count > 0 else { return nil }
      begun += bytes[..<count]
      // That was all.
      if count < bytes.count { break }
    }
    var offsets: [Int] = []
    while begun.count >= Self.length {
      let (kind, offset) = begun.withUnsafeBytes {
        ($0.loadUnaligned(as: UInt32.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      }
      guard kind == Command.givenBack.rawValue, let offset = Int(exactly: offset) else { return nil }
      offsets.append(offset)
      begun.removeFirst(Self.length)
    }
    return offsets
  }

  /// Whether it has read all that it was told.
  var hasReadAll: Bool {
    var waiting: Int32 = 0
    return ioctl(descriptor, UInt(TIOCOUTQ), &waiting) != 0 || waiting == 0
  }

  func end() { close(descriptor) }
}
