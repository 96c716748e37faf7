import GStreamerKit

import struct Foundation.Data

/// What a sender has compressed, as it was before. It is inflated as it is asked for: a few bytes that come may stand for
/// millions, and those are not to wait.
struct InflatedContent {
  private let inflater = Inflater()
  /// Bytes that there are to be; nil where the sender does not say.
  private let total: UInt64?
  private var length: UInt64 = 0

  init(total: UInt64?) { self.total = total }

  func add(_ bytes: Data) { inflater.add(bytes) }

  /// - Returns: nil before more is added.
  mutating func next() throws(StreamError) -> Data? {
    switch inflater.next() {
    case .hungry, .end: return nil
    case .damaged: throw .decodeFailed
    case .piece(let piece):
      length += UInt64(piece.count)
      if let total, length > total { throw .lengthExceeded }
      return piece
    }
  }

  /// Once all that has come is read.
  /// - Throws: where that is not all that there is to be.
  func end() throws(StreamError) {
    guard inflater.isOver, total.map({ length >= $0 }) ?? true else { throw .incomplete }
  }
}
