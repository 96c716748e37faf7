import MediaCore
import MediaPipelines
import Testing

/// What is left out where a machine is too slow.
@Suite struct FrameThinningTests {
  /// A minute of frames for an encoder.
  /// - Parameters:
  ///   - cost: seconds that it takes for each.
  ///   - fps: of what comes.
  /// - Returns: whether each was taken, and how old the oldest of the second half was, at most, when the encoder began with it.
  private func encode(cost: (Double) -> Double, fps: Double = 30) -> (taken: [Bool], oldest: Double) {
    var intake = EncoderIntake()
    var (queue, free, oldest, taken): ([Double], Double, Double, [Bool]) = ([], 0, 0, [])
    for step in 0..<Int(60 * fps) {
      let now = Double(step) / fps
      while let next = queue.first, max(free, next) <= now {
        free = max(free, next)
        if now > 30 { oldest = max(oldest, free - next) }
        free += cost(free)
        queue.removeFirst()
      }
      let takes = intake.takes(at: .seconds(now), waiting: queue.count)
      taken.append(takes)
      if takes { queue.append(now) }
    }
    #expect(intake.leftOut == taken.count { !$0 })
    return (taken, oldest)
  }

  @Test func whatIsQuickEnoughLosesNothing() {
    #expect(encode { _ in 0.033 }.taken.allSatisfy { $0 })
  }

  @Test func aBusyMomentLosesNothing() {
    #expect(encode { $0 > 10 && $0 < 10.5 ? 0.6 : 0.01 }.taken.allSatisfy { $0 })
  }

  @Test(arguments: [(0.05, 0.33), (0.067, 0.5), (0.1, 0.67), (0.2, 0.83)])
  func aSlowEncoderGetsEvenlyManyAndNoneIsOld(_ cost: Double, _ share: Double) {
    let (taken, oldest) = encode { _ in cost }
    #expect(oldest < 1.5, "what waits is \(oldest) s old")
    let later = taken.suffix(taken.count / 2)
    let lost = Double(later.count { !$0 }) / Double(later.count)
    #expect(abs(lost - share) < 0.05, "\(lost) are left out")
    // Between two that are taken not many more are left out than have to be.
    let gaps = later.split(separator: true, omittingEmptySubsequences: false).dropFirst().dropLast().map(\.count)
    #expect(Double(gaps.max() ?? 0) <= share / (1 - share) * 1.5 + 1, "\(Set(gaps))")
  }

  /// An encoder that needs some time to begin, and a short queue that drops its oldest.
  @Test func theFrameThatTheVideoBeginsWithStays() {
    var intake = EncoderIntake()
    let taken = (0..<5).map { intake.takes(at: .milliseconds(40) * $0, waiting: min($0, 3), isFull: $0 >= 3) }
    #expect(taken == [true, true, true, false, false] && intake.leftOut == 2)
    // Two have been encoded, and the queue is full again.
    let isTaken = intake.takes(at: .milliseconds(200), waiting: 1)
    #expect(isTaken)
    let isTakenForAnother = intake.takes(at: .milliseconds(240), waiting: 3, isFull: true)
    #expect(isTakenForAnother, "the oldest goes")
  }

  @Test func itEndsWithTheSlowness() {
    let taken = encode { $0 < 20 ? 0.1 : 0.01 }.taken
    #expect(taken.prefix(600).contains(false) && taken.suffix(30 * 35).allSatisfy { $0 })
  }

  @Test func aMixerLeavesOutTheNextOnesAndCountsThem() {
    var pace = MixPace(delay: .milliseconds(300))
    /// A frame of a moment, in ms, that was mixed so long after it.
    func mix(_ time: Int, after delay: Int) -> Duration? {
      let time = MediaTime(nanoseconds: 0) + .milliseconds(time)
      return pace.mixed(time, at: time + .milliseconds(delay))
    }
    #expect(mix(0, after: 300) == nil && mix(40, after: 900) == nil && pace.leftOut == 0)
    // Half of them at 1050 ms above its delay.
    #expect(mix(80, after: 1350) == .milliseconds(60) && mix(160, after: 1350) == .milliseconds(60))
    #expect(pace.leftOut == 1)
    #expect(mix(200, after: 300) == nil && pace.leftOut == 1, "one that was mixed all the same")
    #expect(mix(400, after: 300) == nil && pace.leftOut == 1, "those that nobody asked to be left out")
  }
}
