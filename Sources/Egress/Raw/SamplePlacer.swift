/// Places the blocks of one voice on a line of samples, of which sample N is heard at N/rate. Pure.
///
/// A voice follows the times of its blocks, which differ a little where clocks do, by as little as nobody hears; what is
/// missing or comes twice by more is left open or left out.
package struct SamplePlacer: Sendable {
  /// Where a block goes.
  package struct Place: Equatable, Sendable {
    /// The sample that its first one is.
    package var position: Int
    /// How many of its samples are left out, at its beginning.
    package var skipped: Int
    /// How many samples it is to have, which may be a few more or less than it has.
    package var count: Int
  }

  /// Samples a second.
  private let rate: Int
  /// Where the newest block ends.
  package private(set) var end: Int?
  /// How much later than they are placed blocks should be, in samples, without the jitter of single ones.
  private var error = 0.0

  package init(rate: Int) { self.rate = rate }

  /// A block that is that far from where the one before ended does not follow on from it.
  private var jump: Int { rate * 8 / 1000 }
  /// Whose blocks are that far from their place is brought there.
  private var tolerance: Double { Double(rate) / 1000 }
  /// By one of so many samples.
  private static let slew = 250
  /// Of the newest block in the mean.
  private static let weight = 1.0 / 16

  /// - Parameters:
  ///   - start: of the block, since sample 0.
  ///   - count: its samples.
  package mutating func place(_ start: Duration, _ count: Int) -> Place {
    let wanted = Self.position(of: start, rate: rate)
    guard let end, abs(wanted - end) <= jump else { return begin(at: wanted, count) }
    error += (Double(wanted - end) - error) * Self.weight
    let stretch = stretch(of: count)
    error -= Double(stretch)
    self.end = end + count + stretch
    return Place(position: end, skipped: 0, count: count + stretch)
  }

  /// By how many samples a block is brought closer to its place.
  private func stretch(of count: Int) -> Int {
    guard abs(error) > tolerance else { return 0 }
    return max(1, count / Self.slew) * (error > 0 ? 1 : -1)
  }

  private mutating func begin(at wanted: Int, _ count: Int) -> Place {
    let position = max(wanted, end ?? 0)
    let skipped = min(position - wanted, count)
    error = 0
    end = max(position + count - skipped, end ?? 0)
    return Place(position: position, skipped: skipped, count: count - skipped)
  }

  /// The sample that is heard then, to the nearest.
  package static func position(of time: Duration, rate: Int) -> Int {
    let (seconds, attoseconds) = time.components
    let rest = Double(attoseconds) / 1e18 * Double(rate)
    return Int(seconds) * rate + Int(rest.rounded())
  }
}
