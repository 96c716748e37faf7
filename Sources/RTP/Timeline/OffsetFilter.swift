import MediaCore

/// The least of what was seen over the last while. Packets come late but never early, so the least of (arrival − sent)
/// is the one that the network delayed least; forgetting the old ones follows clocks that drift apart.
struct OffsetFilter: Sendable {
  private static let bucketLength: Int64 = 2_000_000_000
  private static let bucketCount = 8

  private var buckets: [(index: Int64, least: Int64)] = []

  /// Nanoseconds; nil before the first sample.
  var least: Int64? { buckets.lazy.map(\.least).min() }

  mutating func insert(_ sample: Int64, at time: MediaTime) {
    let index = time.nanoseconds / Self.bucketLength
    buckets.removeAll { index - $0.index >= Int64(Self.bucketCount) }
    if let last = buckets.indices.last, buckets[last].index >= index {
      buckets[last].least = min(buckets[last].least, sample)
    } else {
      buckets.append((index, sample))
    }
  }

  mutating func reset() { buckets.removeAll(keepingCapacity: true) }
}
