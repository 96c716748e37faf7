/// What several threads have made and is to be handed on in the order in which it was made. One of them does so, also for
/// those who come meanwhile, and none waits. Pure: it lives in the state under whose lock things are made.
package struct Outbox<Piece: Sendable>: Sendable {
  private var waiting: [Piece] = []
  private var isBeingEmptied = false

  /// Nothing waits.
  package init() {}

  /// - Returns: whether the caller is to hand on what `next` gives, until that is nil.
  package mutating func add(_ pieces: [Piece]) -> Bool {
    waiting += pieces
    guard !isBeingEmptied, !waiting.isEmpty else { return false }
    isBeingEmptied = true
    return true
  }

  /// What is to be handed on next; nil when that was all.
  package mutating func next() -> [Piece]? {
    defer { waiting = [] }
    isBeingEmptied = !waiting.isEmpty
    return waiting.isEmpty ? nil : waiting
  }
}
