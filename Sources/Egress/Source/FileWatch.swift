import Glibc
import MediaCore

/// Sees that files have become others, once whoever writes them is done.
package struct FileWatch {
  /// What tells one state of a file from another.
  private struct Stamp: Equatable, Sendable {
    var size: Int64
    var seconds: Int
    var nanoseconds: Int
    var inode: UInt64
  }

  private static let pace = Duration.seconds(1)
  /// Whether one that goes has changed.
  private let heedsAbsence: Bool
  private var known: [String: Stamp]
  private var seen: [String: Stamp] = [:]
  private var next: ContinuousClock.Instant
  /// The files that are looked at.
  private let watched: Locked<[String]>
  /// Of a disk that does not answer nothing is new: nobody waits for it.
  private let look: DiskLook<[String: Stamp]>

  /// - Parameters:
  ///   - files: as they are known; what is looked at besides has changed when it is first seen.
  ///   - heedsAbsence: whether one that goes has changed; else it counts when it is there again.
  package init(_ files: [String] = [], heedsAbsence: Bool = false) {
    self.heedsAbsence = heedsAbsence
    next = .now + Self.pace
    let watched = Locked(files)
    self.watched = watched
    look = DiskLook([:]) { FileWatch.stamps(of: watched.withLock { $0 }) }
    known = files.isEmpty ? [:] : look.newest
  }

  /// Looks at its pace. A file that was written a moment ago may be half of itself, so it counts when it stays as it is
  /// for as long.
  /// - Parameter files: those that are looked at, from now on.
  package mutating func hasChanged(_ files: () -> [String]) -> Bool {
    guard ContinuousClock.now >= next else { return false }
    next = .now + Self.pace
    let files = files()
    var now = newest(of: files)
    if !heedsAbsence { for file in files where now[file] == nil { now[file] = known[file] } }
    defer { seen = now }
    guard now != known, now == seen else { return false }
    known = now
    return true
  }

  /// Takes files for known that were not looked at before.
  package mutating func settle(_ files: [String]) {
    known = newest(of: files).merging(known) { $1 }.filter { files.contains($0.key) }
  }

  private func newest(of files: [String]) -> [String: Stamp] {
    guard !files.isEmpty else { return [:] }
    watched.withLock { $0 = files }
    return look.newest
  }

  private static func stamps(of files: [String]) -> [String: Stamp] {
    files.reduce(into: [:]) { $0[$1] = stamp(of: $1) }
  }

  private static func stamp(of file: String) -> Stamp? {
    var status = stat()
    guard stat(file, &status) == 0 else { return nil }
    return Stamp(
      size: Int64(status.st_size), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec,
      inode: UInt64(status.st_ino))
  }
}
