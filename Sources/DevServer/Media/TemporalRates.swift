import MediaCore

/// How many frames a second a stream has up to each of its temporal layers.
struct TemporalRates {
  private static let window = Duration.seconds(1)
  private var frames: [(time: MediaTime, layer: UInt8)] = []
  private var first: MediaTime?

  mutating func note(frameOf layer: UInt8, at time: MediaTime) {
    first = first ?? time
    frames.append((time, layer))
    frames.removeAll { time - $0.time > Self.window }
  }

  /// The lowest layer that brings at least nine tenths of `rate`; nil for all, also while too little is known.
  func layer(for rate: UInt32) -> UInt8? {
    guard let newest = frames.last?.time, let first, newest - first >= Self.window else { return nil }
    let layers = Set(frames.map(\.layer)).sorted()
    return layers.first { limit in Float(frames.count { $0.layer <= limit }) >= Float(rate) * 0.9 }
  }
}
