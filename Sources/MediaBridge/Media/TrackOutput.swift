import GStreamerKit
import MediaCore
import MediaPipelines

/// One output of a track, and who gets what comes out there, from whichever of its receive pipelines.
///
/// Pipelines have numbers. One that is to take over is awaited first, while what it brings is dropped; once it is told to,
/// it takes over at the next frame with which somebody may begin.
final class TrackOutput: Sendable {
  private struct Course {
    /// Both know the same frame by its time, which the clock may have moved a little for one of them.
    static let slack = Duration.milliseconds(2)

    var turns = MediaTurns<MediaBuffer>()
    var next: Next?

    mutating func take(_ media: MediaBuffer, of turn: Int, warmUp: Duration) -> MediaTurns<MediaBuffer>.Verdict {
      guard let time = media.pts else { return turn == turns.current ? .pass : .drop }
      if let next, next.isNewest(time, Self.slack) {
        self.next?.newest = time
        // Neither has brought it before.
        if next.isDue, !media.isDelta {
          self.next?.isDue = false
          turns.change(to: next.turn, at: time - Self.slack)
        }
      }
      if next?.turn == turn, !media.isDelta { next?.note(time, warmUp) }
      return turns.take(media, of: turn, at: time)
    }
  }

  /// A pipeline that is to take over.
  private struct Next {
    let turn: Int
    /// The newest that it or the one before has brought.
    var newest: MediaTime?
    /// When what came of it first is shown or heard.
    var first: MediaTime?
    /// Whether enough of it has come.
    var hasBegun = false
    /// Whether it is to take over at the next opportunity, and none has been there yet.
    var isDue = false
    var failure: LiveKitError?

    func isNewest(_ time: MediaTime, _ slack: Duration) -> Bool { newest.map { time - $0 > slack } ?? true }

    mutating func note(_ time: MediaTime, _ warmUp: Duration) {
      let first = first ?? time
      self.first = first
      if time - first >= warmUp { hasBegun = true }
    }
  }

  private let hub: MediaHub
  /// From the first buffer of a pipeline to what can be heard as it was sent.
  private let warmUp: Duration
  private let course = Locked(Course())

  init(_ hub: MediaHub, warmUp: Duration) { (self.hub, self.warmUp) = (hub, warmUp) }

  /// Whether nobody wants what comes out.
  var isEmpty: Bool { hub.isEmpty }
  func add(_ consumer: MediaConsumer) { hub.add(consumer) }
  func remove(_ consumer: MediaConsumer) { hub.remove(consumer) }
  /// Tells all that there is something again.
  func retry() { hub.retry() }

  // MARK: What pipelines bring

  /// Called by one thread of each pipeline at a time.
  func deliver(_ media: MediaBuffer, of turn: Int) {
    switch course.withLock({ $0.take(media, of: turn, warmUp: warmUp) }) {
    case .pass: hub.deliver(media)
    case .drop: break
    case .drain: while let held = course.withLock({ $0.turns.drain() }) { for media in held { hub.deliver(media) } }
    }
  }

  func noteDrop(of turn: Int) { if course.withLock({ $0.turns.current == turn }) { hub.noteDrop() } }

  /// Nothing comes any more. Of one that is to take over that is only noted.
  func fail(_ error: LiveKitError, of turn: Int) {
    let isCurrent = course.withLock { course in
      if let next = course.next, next.turn == turn { course.next?.failure = next.failure ?? error }
      return course.turns.current == turn
    }
    if isCurrent { hub.fail(error) }
  }

  // MARK: Which one goes on

  /// Only what that one brings goes on.
  func begin(_ turn: Int) { course.withLock { $0 = Course(turns: MediaTurns(current: turn)) } }

  /// That one is to take over.
  func expect(_ turn: Int) { course.withLock { $0.next = Next(turn: turn) } }

  /// Whether something has come of the one that is to take over, or nobody wants it.
  var isExpectationMet: Bool { isEmpty || course.withLock { $0.next?.hasBegun != false } }

  /// Why nothing comes of the one that is to take over.
  var failure: LiveKitError? { course.withLock { $0.next?.failure } }

  /// Has the one that is expected take over.
  func change() { course.withLock { $0.next?.isDue = true } }

  /// Whether the one that was expected goes on.
  func hasChanged(to turn: Int) -> Bool {
    if isEmpty { begin(turn) }
    return course.withLock { course in
      if course.turns.settle() { course.next = nil }
      return course.turns.current == turn
    }
  }
}
