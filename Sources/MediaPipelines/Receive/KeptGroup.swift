public import MediaCore

/// The frames since the newest keyframe, or of audio the newest of all, with which somebody may begin who comes in the
/// middle of a stream.
///
/// Pure: it says what is kept; whose frames they are sees to their memory.
public struct KeptGroup<Frame> {
  /// How frames need each other.
  public enum Dependence: Sendable {
    /// Video: all need those before them, from a keyframe on.
    case sinceKeyframe
    /// Audio: none needs another.
    case none
  }

  private let dependence: Dependence
  private let limit: Duration
  private var kept: [(frame: Frame, time: MediaTime)] = []
  /// How many at the front are too old; they go together, so that the others do not move up each time.
  private var expired = 0

  /// - Parameter limit: how long the kept frames may span. A group that becomes longer goes as a whole: to decode it
  ///   would take longer than a new keyframe.
  public init(_ dependence: Dependence, limit: Duration = .seconds(1)) {
    self.dependence = dependence
    self.limit = limit
  }

  /// Takes a frame that came at `time`.
  public mutating func add(_ frame: Frame, isKeyframe: Bool, at time: MediaTime) {
    switch dependence {
    case .none: expire(before: time - limit)
    case .sinceKeyframe:
      if isKeyframe || isTooLong(at: time) { clear() }
      guard isKeyframe || !kept.isEmpty else { return }
    }
    kept.append((frame, time))
  }

  /// What somebody who comes at `time` begins with; nothing when a keyframe is needed first.
  public func frames(at time: MediaTime) -> [Frame] {
    switch dependence {
    case .none: kept.filter { $0.time >= time - limit }.map(\.frame)
    case .sinceKeyframe: isTooLong(at: time) ? [] : kept.map(\.frame)
    }
  }

  /// Forgets all, since what comes next does not go on from it.
  public mutating func clear() {
    kept.removeAll(keepingCapacity: true)
    expired = 0
  }

  private func isTooLong(at time: MediaTime) -> Bool { kept.first.map { time - $0.time > limit } ?? false }

  private mutating func expire(before time: MediaTime) {
    while expired < kept.count, kept[expired].time < time { expired += 1 }
    guard expired > 0, expired * 2 >= kept.count else { return }
    kept.removeFirst(expired)
    expired = 0
  }
}

extension KeptGroup: Sendable where Frame: Sendable {}
