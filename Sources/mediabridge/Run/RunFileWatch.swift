import Foundation
import Glibc

/// Sees that a file has become another one, once whoever writes it is done.
struct RunFileWatch {
  /// What tells one state of a file from another.
  private struct Stamp: Equatable {
    var size: Int64
    var seconds: Int
    var nanoseconds: Int
    var inode: UInt64
  }

  private let file: String
  private var known: Stamp?
  private var seen: Stamp?
  private var next = ContinuousClock.now + .seconds(1)

  init(_ file: String) {
    self.file = file
    known = Self.stamp(of: file)
  }

  /// Looks once a second. A file that was written a moment ago may be half of itself, so it counts when it stays as it is
  /// for as long; one that is away counts not at all.
  mutating func hasChanged() -> Bool {
    guard ContinuousClock.now >= next else { return false }
    next = .now + .seconds(1)
    let now = Self.stamp(of: file)
    defer { seen = now }
    guard let now, now != known, now == seen else { return false }
    known = now
    return true
  }

  private static func stamp(of file: String) -> Stamp? {
    var status = stat()
    guard stat(file, &status) == 0 else { return nil }
    return Stamp(
      size: Int64(status.st_size), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec,
      inode: UInt64(status.st_ino))
  }
}
