import MediaCore

/// How long after its moment a track's audio is played. It grows at once with audio that would come too late, which
/// has left a gap by then, and shrinks after some seconds of calm to what nearly all audio needs, by a little of what
/// is quiet each time. Pure.
///
/// What is quiet asks for no delay: a sender that sends less in silence (DTX) has it come late on any network.
struct PlaybackDelay: Sendable {
  /// What comes later is left out, unless the mixer waits for longer.
  static let most = Duration.milliseconds(500)
  /// What is left out of quiet audio at once.
  static let cut = Duration.milliseconds(10)
  /// Without growing, before it shrinks.
  static let calm = Duration.seconds(8)
  /// The mixer takes that much at once, and wants the first of it in time.
  private static let block = Duration.milliseconds(10)
  /// What was kept for whoever begins comes late, and says nothing of the network. It is over by then.
  private static let settling = Duration.seconds(1)

  /// The mixer's own.
  let least: Duration
  /// From the moment of audio to its being mixed.
  private(set) var current: Duration
  private var shares = LatenessShares()
  /// When the first audio came.
  private var first: MediaTime?
  private var hasBegun = false
  private var lastGrowth: MediaTime?

  init(least: Duration) { (self.least, current) = (least, least) }

  /// What is added to the mixer's own.
  var extra: Duration { current - least }

  /// Whether it matters how loud audio is that comes so late.
  func asksForLevel(_ lateness: Duration) -> Bool { current > least || !isInTime(lateness) }

  /// Takes note of audio before it is mixed.
  /// - Parameter lateness: from its moment to its being here.
  mutating func take(lateness: Duration, isQuiet: Bool, at now: MediaTime) {
    guard begins(lateness, at: now) else { return }
    guard !isQuiet else { return shrink(at: now) }
    let need = lateness + Self.block
    // No delay that anybody bears would help.
    guard need <= Self.most else { return }
    shares.note(need)
    guard need > current else { return }
    current = roomy(LatenessShares.step(above: need))
    lastGrowth = now
  }

  private func isInTime(_ lateness: Duration) -> Bool { lateness + Self.block <= current }

  private mutating func begins(_ lateness: Duration, at now: MediaTime) -> Bool {
    guard !hasBegun else { return true }
    let first = first ?? now
    self.first = first
    hasBegun = isInTime(lateness) || now - first >= Self.settling
    return hasBegun
  }

  private mutating func shrink(at now: MediaTime) {
    guard current > least, let lastGrowth, now - lastGrowth >= Self.calm else { return }
    let goal = roomy(shares.usual)
    if current > goal { current = max(goal, current - Self.cut) }
  }

  /// A step more than is needed, so that what is a little later still does not leave one gap after the other.
  private func roomy(_ need: Duration) -> Duration {
    need <= least ? least : min(need + LatenessShares.step, Self.most)
  }
}

/// How late audio was lately, in steps; the older it is, the less it counts. Pure.
struct LatenessShares: Sendable {
  static let step = Duration.milliseconds(20)
  private static let count = Int(PlaybackDelay.most.nanoseconds / step.nanoseconds)
  /// What is left of each after the next one: some ten seconds of the usual 20 ms count.
  private static let memory = 0.998
  /// So much may be later than usual.
  private static let rest = 0.03

  private var weights = [Double](repeating: 0, count: Self.count)

  mutating func note(_ lateness: Duration) {
    for index in weights.indices { weights[index] *= Self.memory }
    weights[Self.index(lateness)] += 1
  }

  /// The step that all but a few did not exceed; zero where there was nothing.
  var usual: Duration {
    let rest = weights.reduce(0, +) * Self.rest
    var later = 0.0
    for index in weights.indices.reversed() {
      later += weights[index]
      if later > rest { return Self.step * (index + 1) }
    }
    return .zero
  }

  /// The end of the step in which it lies.
  static func step(above lateness: Duration) -> Duration { step * (index(lateness) + 1) }

  private static func index(_ lateness: Duration) -> Int {
    min(Int(max(lateness.nanoseconds - 1, 0) / step.nanoseconds), count - 1)
  }
}
