import MediaCore

/// The least of what was seen over the last while. Packets come late but never early, so the least of (arrival − sent)
/// is the one that the network delayed least; forgetting the old ones follows clocks that drift apart.
struct OffsetFilter: Sendable {
  private static let bucketLength: Int64 = 2_000_000_000
  private static let bucketCount = 8

  private var buckets: [(index: Int64, least: Int64)] = []

  /// Nanoseconds; nil before the first sample.
  private(set) var least: Int64?

  mutating func insert(_ sample: Int64, at time: MediaTime) {
    let index = time.nanoseconds / Self.bucketLength
    // Most samples change nothing, and this runs for every packet.
    if let last = buckets.last, last.index >= index {
      guard sample < last.least else { return }
      buckets[buckets.count - 1].least = sample
    } else {
      buckets.removeAll { index - $0.index >= Int64(Self.bucketCount) }
      buckets.append((index, sample))
    }
    least = buckets.lazy.map(\.least).min()
  }

  /// The least of the last while; nil where nothing was seen in it.
  func least(at time: MediaTime) -> Int64? {
    guard let last = buckets.last, time.nanoseconds / Self.bucketLength - last.index < Int64(Self.bucketCount) else {
      return nil
    }
    return least
  }

  mutating func reset() {
    buckets.removeAll(keepingCapacity: true)
    least = nil
  }
}
