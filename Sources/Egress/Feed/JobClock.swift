import MediaCore

/// The time of a job: what passes while it is paused is cut out of it, so that the moment of going on is the one of stopping.
/// Pure.
struct JobClock: Sendable {
  private struct Pause {
    var start: MediaTime
    /// Nil while it lasts.
    var end: MediaTime?
    /// Cut out before it.
    var before: Duration
  }
  /// The last ones: media does not come later than they began.
  private var pauses: [Pause] = []
  private static let most = 100

  var isPaused: Bool { pausedSince != nil }
  /// When the pause began that lasts; nil while it goes on.
  var pausedSince: MediaTime? { pauses.last.flatMap { $0.end == nil ? $0.start : nil } }

  /// - Returns: whether it went on until then.
  mutating func pause(at time: MediaTime) -> Bool {
    guard !isPaused else { return false }
    if pauses.count == Self.most { pauses.removeFirst() }
    pauses.append(Pause(start: time, before: cut(before: time)))
    return true
  }

  /// - Returns: whether it was paused until then.
  mutating func resume(at time: MediaTime) -> Bool {
    guard isPaused else { return false }
    pauses[pauses.count - 1].end = max(time, pauses[pauses.count - 1].start)
    return true
  }

  /// When something that was then takes place; nil for what is cut out.
  func placed(_ time: MediaTime) -> MediaTime? {
    guard let pause = pauses.last(where: { $0.start <= time }) else { return time - (pauses.first?.before ?? .zero) }
    guard let end = pause.end, time >= end else { return nil }
    return time - cut(before: time)
  }

  /// How late it is then, which during a pause it does not become.
  func reading(at time: MediaTime) -> MediaTime {
    placed(time) ?? pauses.last { $0.start <= time }.map { $0.start - $0.before } ?? time
  }

  /// When something was that takes place at that time: the other way round than `placed`.
  func moment(of time: MediaTime) -> MediaTime {
    guard let pause = pauses.last(where: { $0.start - $0.before < time }) else {
      return time + (pauses.first?.before ?? .zero)
    }
    return time + pause.before + ((pause.end ?? pause.start) - pause.start)
  }

  /// - Parameter time: in no pause.
  private func cut(before time: MediaTime) -> Duration {
    guard let pause = pauses.last(where: { $0.start <= time }) else { return pauses.first?.before ?? .zero }
    return pause.before + ((pause.end ?? time) - pause.start)
  }
}
