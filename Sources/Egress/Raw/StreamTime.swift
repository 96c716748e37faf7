package import MediaCore

/// When the frames or blocks of audio of one stream are, by its RTP clock: exact from one to the next, whatever our estimate
/// of its sender's time does meanwhile. Pure.
package struct StreamTime: Sendable {
  /// Ticks a second.
  private let rate: Int
  /// When the first block was, and how many ticks after it the newest one.
  private var first: MediaTime?
  private var ticks = 0
  private var newest: UInt32 = 0
  /// The newest block's time as it was estimated, and as it was told.
  private var told: (estimate: MediaTime, time: MediaTime)?
  /// Nanoseconds by which estimates are later, without the jitter of single ones.
  private var offset = 0.0
  /// What that was when the estimates had settled.
  private var settled = 0.0

  /// - Parameter rate: of the timestamps, in ticks a second.
  package init(rate: Int) { self.rate = rate }

  /// What cannot be a gap in what was sent: timestamps that begin anew, or stood still while nothing was sent.
  private static let largestError = 200e6
  /// So long an estimate may need to settle; sender reports come every few seconds.
  private static let settling = Duration.seconds(20)
  /// A sender's crystal is off by some millionths: it is followed once that has added up, by as little as nobody hears.
  private static let (tolerance, slew) = (20e6, 0.001)
  /// Of the newest estimate in the mean.
  private static let weight = 1.0 / 128

  /// - Parameters:
  ///   - timestamp: as its packet had it; nil where that is not known, as of audio that stands in for a lost packet.
  ///   - estimate: when it is, by our clock.
  package mutating func time(of timestamp: UInt32?, estimate: MediaTime) -> MediaTime {
    let time = timestamp.map { place($0, estimate) } ?? told.map { $0.time + (estimate - $0.estimate) } ?? estimate
    told = (estimate, time)
    return time
  }

  private mutating func place(_ timestamp: UInt32, _ estimate: MediaTime) -> MediaTime {
    guard let first else { return begin(timestamp, at: estimate) }
    let passed = Int(Int32(bitPattern: timestamp &- newest))
    let age = Duration.ticks(ticks + passed, rate: rate)
    let error = Double((estimate - (first + age)).nanoseconds)
    guard abs(error - offset) < Self.largestError else { return begin(timestamp, at: estimate) }
    (newest, ticks) = (timestamp, ticks + passed)
    offset += (error - offset) * Self.weight
    if age < Self.settling { settled = offset }
    return first + follow(Duration.ticks(passed, rate: rate)) + age
  }

  /// - Returns: by how much the first block is moved.
  private mutating func follow(_ passed: Duration) -> Duration {
    let drift = offset - settled
    guard let first, abs(drift) > Self.tolerance else { return .zero }
    let step = Duration.nanoseconds(Int64(Double(passed.nanoseconds) * Self.slew * (drift > 0 ? 1 : -1)))
    self.first = first + step
    offset -= Double(step.nanoseconds)
    return step
  }

  private mutating func begin(_ timestamp: UInt32, at estimate: MediaTime) -> MediaTime {
    (first, ticks, newest) = (estimate, 0, timestamp)
    (offset, settled) = (0, 0)
    return estimate
  }
}

extension Duration {
  /// How long so many ticks last, to the nanosecond.
  fileprivate static func ticks(_ count: Int, rate: Int) -> Duration {
    .nanoseconds(Int64(count / rate) * 1_000_000_000 + Int64(count % rate) * 1_000_000_000 / Int64(rate))
  }
}
