import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines

/// Hands on what is mixed, while mixes take over from each other.
final class MixRelay: Sendable {
  /// Of one kind.
  private struct Course {
    var turns = MediaTurns<MediaBuffer>()
    /// The number of the newest mix, whether something has come of it, and why it cannot take over.
    var newest = 0
    var hasBegun = false
    var failure: LiveKitError?
  }
  private let courses = Locked<[Track.Kind: Course]>([:])
  private let write: @Sendable (MediaBuffer, Track.Kind) -> Void

  /// - Parameter write: called on streaming threads, in order for each kind; to return at once.
  init(write: @escaping @Sendable (MediaBuffer, Track.Kind) -> Void) { self.write = write }

  /// What is given to a mix of that number; the first one goes on at once.
  func take(_ media: MediaBuffer, _ kind: Track.Kind, of turn: Int) {
    guard let time = media.pts else { return }
    let verdict = with(kind) { course in
      if turn == course.newest { course.hasBegun = true }
      return course.turns.take(media, of: turn, at: time)
    }
    switch verdict {
    case .pass: write(media, kind)
    case .drop: break
    case .drain: while let held = with(kind, { $0.turns.drain() }) { for media in held { write(media, kind) } }
    }
  }

  /// - Returns: the number of another mix, which is to take over.
  func nextTurn(_ kind: Track.Kind) -> Int {
    with(kind) { course in
      (course.newest, course.hasBegun, course.failure) = (course.newest + 1, false, nil)
      return course.newest
    }
  }

  /// Whether something has come of the newest one.
  func hasBegun(_ kind: Track.Kind) -> Bool { with(kind) { $0.hasBegun } }

  /// Has the newest one take over.
  func change(_ kind: Track.Kind, at time: MediaTime) { with(kind) { $0.turns.change(to: $0.newest, at: time) } }

  /// Whether the newest one has taken over since this was asked last.
  func hasChanged(_ kind: Track.Kind) -> Bool { with(kind) { $0.turns.settle() } }

  /// - Returns: whether it is that of the mix that goes on; that of the newest one is kept.
  func note(_ error: LiveKitError, _ kind: Track.Kind, of turn: Int) -> Bool {
    with(kind) { course in
      if turn == course.turns.current { return true }
      if turn == course.newest { course.failure = course.failure ?? error }
      return false
    }
  }

  func failure(_ kind: Track.Kind) -> LiveKitError? { with(kind) { $0.failure } }

  private func with<Result>(_ kind: Track.Kind, _ body: (inout Course) -> Result) -> Result {
    courses.withLock { body(&$0[kind, default: Course()]) }
  }
}
