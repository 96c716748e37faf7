import MediaCore

/// Changes that hold from a moment on. Pure.
struct MomentList<Change: Sendable>: Sendable {
  private var waiting: [(from: MediaTime, change: Change)] = []

  mutating func add(_ change: Change, from time: MediaTime) { waiting.append((time, change)) }

  /// - Returns: those that hold at a moment, in the order in which they were added; they wait no more.
  mutating func due(at time: MediaTime) -> [Change] {
    guard waiting.contains(where: { $0.from <= time }) else { return [] }
    defer { waiting.removeAll { $0.from <= time } }
    return waiting.filter { $0.from <= time }.map { $0.change }
  }

  /// Of those that hold at a moment the last one is enough.
  mutating func merge(at time: MediaTime) {
    guard let last = waiting.last(where: { $0.from <= time }) else { return }
    waiting.removeAll { $0.from <= time }
    waiting.insert(last, at: 0)
  }

  /// - Returns: all of them; none waits any more.
  mutating func takeAll() -> [Change] { due(at: MediaTime(nanoseconds: .max)) }
}
