/// Adds up what voices bring to one line of samples without a gap, of which sample N is heard at N/rate: silence where
/// nobody brings anything. Pure.
package struct SampleLine: Sendable {
  /// Samples a second.
  package let rate: Int
  /// Side by side in a sample.
  package let channels: Int
  private var voices: [String: SamplePlacer] = [:]
  private var sum: [Float] = []
  /// How many samples were taken.
  package private(set) var taken = 0
  /// How many came when their place was taken.
  package private(set) var late = 0
  /// Seconds from what was taken on; what is said to be later is a mistake, which would move all that follows. Whoever is
  /// alone is waited for two seconds.
  private static let furthest = 3

  package init(rate: Int, channels: Int) { (self.rate, self.channels) = (rate, channels) }

  /// Whoever is there is waited for, as long as that may take.
  package mutating func add(_ voice: String) { voices[voice] = voices[voice] ?? SamplePlacer(rate: rate) }
  package mutating func remove(_ voice: String) { voices.removeValue(forKey: voice) }

  /// How many are there.
  package var voiceCount: Int { voices.count }

  /// What is said to be far ahead is left out.
  /// - Parameters:
  ///   - samples: -1…1, interleaved.
  ///   - start: since sample 0.
  package mutating func write(_ samples: [Float], of voice: String, at start: Duration) {
    guard SamplePlacer.position(of: start, rate: rate) < taken + Self.furthest * rate,
      let place = voices[voice]?.place(start, samples.count / channels)
    else { return }
    let late = max(taken - place.position, 0)
    self.late += min(late, place.count)
    guard late < place.count else { return }
    let fresh = place.skipped == 0 ? samples : Array(samples.dropFirst(place.skipped * channels))
    let fitted = Self.fitted(fresh, to: place.count, channels)
    let first = (place.position + late - taken) * channels
    let new = fitted.dropFirst(late * channels)
    if sum.count < first + new.count { sum += [Float](repeating: 0, count: first + new.count - sum.count) }
    for (index, sample) in new.enumerated() { sum[first + index] += sample }
  }

  /// A few samples more or less, between which the others lie.
  private static func fitted(_ samples: [Float], to count: Int, _ channels: Int) -> [Float] {
    let has = samples.count / channels
    guard has != count, has > 1, count > 1 else { return samples }
    let step = Double(has - 1) / Double(count - 1)
    var fitted: [Float] = []
    fitted.reserveCapacity(count * channels)
    for index in 0..<count {
      let place = Double(index) * step
      let before = min(Int(place), has - 2)
      let share = Float(place - Double(before))
      for channel in 0..<channels {
        let (one, next) = (samples[before * channels + channel], samples[(before + 1) * channels + channel])
        fitted.append(one + (next - one) * share)
      }
    }
    return fitted
  }

  /// How far all who are there have brought something.
  package var ready: Int { voices.values.map { $0.end ?? 0 }.min() ?? 0 }

  /// How far any of them has brought something, or has been taken.
  package var heard: Int { taken + sum.count / channels }

  /// The samples from the last one taken up to `position`, as far as there are any.
  package mutating func take(upTo position: Int) -> [Float] {
    guard position > taken else { return [] }
    let count = (position - taken) * channels
    taken = position
    guard sum.count > count else {
      defer { sum = [] }
      return sum + [Float](repeating: 0, count: count - sum.count)
    }
    defer { sum.removeFirst(count) }
    return Array(sum[..<count])
  }
}
