package import MediaCore

/// What waits for one reader, at most so much and so long. Whoever puts something in never waits; what there is no room
/// for is dropped, the oldest first. Pure.
package struct RawQueue<Note: Sendable>: Sendable {
  /// One frame, or a stretch of samples.
  package struct Piece: Sendable {
    package enum Body: Sendable {
      case bytes([UInt8])
      /// So many bytes of silence.
      case silence(Int)
      /// Said beside the media, where the reader takes that.
      case text(String)
    }
    package var body: Body
    /// When it was made.
    package var made: MediaTime
    /// Of what it is news; what follows cannot be read without the newest of each.
    package var subject: String?
    package var note: Note?

    package init(_ body: Body, made: MediaTime, subject: String? = nil, note: Note? = nil) {
      (self.body, self.made, self.subject, self.note) = (body, made, subject, note)
    }

    package var isNeeded: Bool { subject != nil }

    package var size: Int {
      switch body {
      case .bytes(let bytes): bytes.count
      case .silence(let count): count
      case .text: 0
      }
    }
    /// Of memory.
    fileprivate var held: Int { if case .bytes(let bytes) = body { bytes.count } else { 0 } }
  }

  /// What there is room for.
  package struct Limits: Sendable {
    /// How old a piece may become; nil for any age.
    package var age: Duration?
    package var bytes: Int
    /// Whether silence takes the place of what is dropped, so that all that follows stays in its place.
    package var keepsLength: Bool

    package init(age: Duration? = nil, bytes: Int, keepsLength: Bool = false) {
      (self.age, self.bytes, self.keepsLength) = (age, bytes, keepsLength)
    }
  }

  private let limits: Limits
  private var waiting: [Piece] = []
  private var first = 0
  private(set) var bytes = 0

  package init(_ limits: Limits) { self.limits = limits }

  package var isEmpty: Bool { first == waiting.count }
  package var count: Int { waiting.count - first }

  /// - Returns: what there is no room for any more.
  package mutating func put(_ piece: Piece, at time: MediaTime) -> [Piece] {
    var dropped: [Piece] = []
    var place = first
    while place < waiting.count, isFull(with: piece) || isOld(waiting[place], at: time) {
      if !waiting[place].isNeeded, waiting[place].held > 0 { dropped.append(drop(&place)) } else { place += 1 }
    }
    waiting.append(piece)
    bytes += piece.held
    return dropped
  }

  private func isFull(with piece: Piece) -> Bool { bytes + piece.held > limits.bytes }
  private func isOld(_ piece: Piece, at time: MediaTime) -> Bool {
    limits.age.map { !piece.isNeeded && time - piece.made > $0 } ?? false
  }

  /// - Parameter place: becomes that of the piece behind it.
  private mutating func drop(_ place: inout Int) -> Piece {
    let piece = waiting[place]
    bytes -= piece.held
    guard limits.keepsLength else {
      waiting.remove(at: place)
      return piece
    }
    if place > first, case .silence(let before) = waiting[place - 1].body {
      waiting[place - 1].body = .silence(before + piece.size)
      waiting.remove(at: place)
    } else {
      waiting[place] = Piece(.silence(piece.size), made: piece.made)
      place += 1
    }
    return piece
  }

  package mutating func take() -> Piece? {
    guard !isEmpty else { return nil }
    let piece = waiting[first]
    waiting[first].body = .silence(0)
    first += 1
    bytes -= piece.held
    if first > 64, 2 * first > waiting.count {
      waiting.removeFirst(first)
      first = 0
    }
    return piece
  }

  /// - Returns: what was never taken.
  package mutating func clear() -> [Piece] {
    defer { (waiting, first, bytes) = ([], 0, 0) }
    return Array(waiting[first...])
  }
}
