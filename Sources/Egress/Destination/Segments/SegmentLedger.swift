/// What a segmented output has written so far. Pure.
struct SegmentLedger {
  /// Paths of what goes in front of segments.
  private(set) var initializations: [String] = []
  /// Paths of the segments that are complete and still there.
  private(set) var files: [String] = []
  /// All of these, those in front first. Whoever asks each second gets this list, and no copy
  /// where there is no other.
  private(set) var all: [String] = []
  /// Of all that is complete, also of what has gone.
  private(set) var bytes: Int64 = 0
  /// The same for segments.
  private(set) var length: Duration = .zero
  private(set) var count = 0

  mutating func add(initialization path: String, bytes: Int) {
    all.insert(path, at: initializations.count)
    initializations.append(path)
    self.bytes += Int64(bytes)
  }

  mutating func add(segment path: String, bytes: Int, lasting duration: Duration) {
    files.append(path)
    all.append(path)
    count += 1
    self.bytes += Int64(bytes)
    length += duration
  }

  /// Forgets all but so many.
  /// - Returns: the paths of those that are to go, the oldest first.
  mutating func takeOld(keeping kept: Int) -> [String] {
    let old = Array(files.dropLast(kept))
    files.removeFirst(old.count)
    all.removeSubrange(initializations.count..<initializations.count + old.count)
    return old
  }
}
