import Foundation
import MediaBridge

/// A piece of memory with a name, by which other programs of this user read what is in it. The name goes with it.
///
/// `@unchecked Sendable`: what changes is only touched under the lock of the output that it belongs to.
final class SharedArea: @unchecked Sendable {
  private static let folder = "/dev/shm"
  private static let prefix = "mediabridge-"
  /// Where it is too small.
  static let advice = "make it larger, in a container as with 'docker run --shm-size 512m', or hand smaller frames on"
  /// As readers open it.
  let name: String
  /// Bytes of a place; of all of them.
  let place: Int
  let size: Int
  private let descriptor: Int32
  private let memory: UnsafeMutableRawPointer
  private var reserved = 0

  /// - Parameters:
  ///   - place: bytes of each place at least.
  ///   - count: how many there are.
  init(place: Int, count: Int) throws(LiveKitError) {
    Self.removeLeftOvers()
    let page = Int(getpagesize())
    self.place = (place + page - 1) / page * page
    size = self.place * count
    (name, descriptor) = try Self.make()
    let memory =
      ftruncate(descriptor, size) == 0
      ? mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED
    guard let memory, memory != MAP_FAILED else {
      let failure = Self.failure
      shm_unlink(name)
      close(descriptor)
      throw failure
    }
    self.memory = memory
  }

  private static var failure: LiveKitError {
    LiveKitError(.output, "no shared memory can be had: \(String(cString: strerror(errno)))", fault: .destination)
  }

  /// It is locked as long as whoever made it lives.
  private static func make() throws(LiveKitError) -> (String, Int32) {
    for _ in 0..<8 {
      let name = "/\(prefix)\(getpid())-\(UInt32.random(in: 0 ... .max))"
      let descriptor = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 || errno == EEXIST else { throw failure }
      if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return (name, descriptor) }
      // Taken for one that was left over.
      if descriptor >= 0 { close(descriptor) }
    }
    throw failure
  }

  /// Of programs of this kind that were killed.
  private static func removeLeftOvers() {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for file in files where file.hasPrefix(prefix) {
      let descriptor = shm_open("/\(file)", O_RDWR | O_CLOEXEC, 0)
      guard descriptor >= 0 else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { shm_unlink("/\(file)") }
      close(descriptor)
    }
  }

  /// Whether the machine had memory for none of the places that were asked for.
  var isEmpty: Bool { reserved == 0 }

  /// - Parameter index: of the place; they are used from the first one on.
  /// - Returns: its memory; nil where the machine has none for it.
  func memory(at index: Int) -> UnsafeMutableRawBufferPointer? {
    reserve(upTo: index) ? UnsafeMutableRawBufferPointer(start: memory + index * place, count: place) : nil
  }

  /// Memory that is not there would end the process when it is written to.
  private func reserve(upTo index: Int) -> Bool {
    while reserved <= index {
      guard posix_fallocate(descriptor, reserved * place, place) == 0 else { return false }
      reserved += 1
    }
    return true
  }

  deinit {
    shm_unlink(name)
    munmap(memory, size)
    close(descriptor)
  }
}
