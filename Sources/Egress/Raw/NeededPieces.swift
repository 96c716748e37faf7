/// What a reader who comes later has to know: the newest that was said of each matter, in the order in which it was said.
/// Participants may come and go for days, so that it is bounded. Pure.
package struct NeededPieces<Note: Sendable>: Sendable {
  private static var most: Int { 1000 }
  package private(set) var all: [RawQueue<Note>.Piece] = []

  package init() {}

  package mutating func keep(_ piece: RawQueue<Note>.Piece) {
    guard let subject = piece.subject else { return }
    all.removeAll { $0.subject == subject }
    all.append(piece)
    if all.count > Self.most { all.removeFirst() }
  }
}
