import MediaCore

/// Which of LiveKit's two ways of telling what is said counts where a program uses both, as agents do: they send each
/// step of a segment as a text and as a message, under ids of their own. Pure.
///
/// A program may as well use one way alone, or both for different things: all is told until both say the same at the
/// same time. From then on the way that came first leads, and is told at once. A segment of the other way is left out
/// where it once says the same; one that never does is told when it is final.
struct TranscriptionWays {
  enum Way {
    case text, message

    fileprivate var other: Way { self == .text ? .message : .text }
  }

  /// A segment as one way tells it.
  struct Segment: Hashable {
    /// Who really sends it.
    let origin: String
    /// Whose words it has.
    let speaker: String
    let way: Way
    let id: String

    fileprivate var source: Source { Source(origin: origin, speaker: speaker) }
  }

  fileprivate struct Source: Hashable {
    let origin: String
    let speaker: String
  }

  private enum Fate {
    case told
    /// It is told later, where the other way does not say the same.
    case held
    /// The other way tells it.
    case twin
  }

  /// The newest one of a segment.
  private struct Step {
    /// The hash of what is said, which may be long.
    let said: Int
    let time: MediaTime
    var fate: Fate
    let isFinal: Bool
  }

  private var steps: [Segment: Step] = [:]
  private var leads: [Source: Way] = [:]

  /// How far apart the two are that say the same.
  static let beside = Duration.seconds(1)
  /// Senders that end nothing, or name many speakers, fill no memory.
  private static let limit = 1000
  /// So many steps are looked through for those that are over.
  private static let fewest = 100
  /// How many are looked through next: not the same again for each that comes.
  private var nextCleaning = TranscriptionWays.fewest

  /// - Parameter said: all of it, as it is known now.
  /// - Returns: whether it is told now.
  mutating func counts(_ said: String, isFinal: Bool, of segment: Segment, at now: MediaTime) -> Bool {
    makeRoom(at: now)
    let fate = fate(of: segment, said.hashValue, isFinal: isFinal, at: now)
    steps[segment] = Step(said: said.hashValue, time: now, fate: fate, isFinal: isFinal)
    return fate == .told
  }

  private mutating func fate(of segment: Segment, _ said: Int, isFinal: Bool, at now: MediaTime) -> Fate {
    // What follows the final one is another segment, whatever its id.
    let before = steps[segment].flatMap { $0.isFinal ? nil : $0.fate }
    guard before != .twin else { return .twin }
    let alike = alike(segment, said, at: now)
    let isTold = alike.contains { steps[$0]?.fate == .told }
    if leads[segment.source] == segment.way {
      for other in alike where steps[other]?.fate == .held { steps[other]?.fate = .twin }
      // The other way was ahead with what was final at once.
      return isTold && before != .told ? .held : .told
    }
    if isTold {
      leads[segment.source] = segment.way.other
      return .twin
    }
    return leads[segment.source] == nil || before == .told || isFinal ? .told : .held
  }

  /// - Returns: the segments that say the same in the other way.
  private func alike(_ segment: Segment, _ said: Int, at now: MediaTime) -> [Segment] {
    steps.keys.filter { other in
      guard other.way != segment.way, other.source == segment.source, let step = steps[other] else { return false }
      return step.said == said && now - step.time <= Self.beside
    }
  }

  private mutating func makeRoom(at now: MediaTime) {
    if steps.count >= nextCleaning {
      steps = steps.filter { !$0.value.isFinal || now - $0.value.time <= Self.beside }
      if steps.count >= Self.limit { steps.removeAll() }
      nextCleaning = max(Self.fewest, 2 * steps.count)
    }
    if leads.count >= Self.limit { leads.removeAll() }
  }

  /// - Parameter origin: who has left; nil for the end of the session.
  mutating func cut(from origin: String?) {
    steps = origin.map { origin in steps.filter { $0.key.origin != origin } } ?? [:]
    leads = origin.map { origin in leads.filter { $0.key.origin != origin } } ?? [:]
  }
}
