package import struct Foundation.Data

/// What the content of a stream is cut into for its packets.
package enum StreamPieces {
  /// Bytes of the longest piece, as LiveKit's clients cut: with what is around it, it fits into 16 kB.
  package static let size = 15_000

  package static func cut(_ data: Data) -> [Data] {
    stride(from: data.startIndex, to: data.endIndex, by: size).map { data[$0..<min($0 + size, data.endIndex)] }
  }

  /// Cut between two scalars, so that each piece is UTF-8 by itself.
  package static func cut(_ text: String) -> [Data] {
    var (pieces, rest) = ([Data](), Array(text.utf8)[...])
    while !rest.isEmpty {
      var end = min(rest.startIndex + size, rest.endIndex)
      while end < rest.endIndex, rest[end].isContinuation { end -= 1 }
      pieces.append(Data(rest[..<end]))
      rest = rest[end...]
    }
    return pieces
  }
}

/// Makes text of bytes that may be cut anywhere. Pure.
package struct TextDecoder {
  /// The beginning of a scalar whose end is still to come.
  private var rest: [UInt8] = []

  package init() {}

  /// - Returns: the scalars that are whole now; nil for what is no UTF-8.
  package mutating func add(_ bytes: Data) -> String? {
    let all = rest + bytes
    let end = Self.endOfWhole(all)
    rest = Array(all[end...])
    return String(validating: all[..<end], as: UTF8.self)
  }

  /// Whether nothing is missing at the end.
  package var isWhole: Bool { rest.isEmpty }

  private static func endOfWhole(_ bytes: [UInt8]) -> Int {
    for (back, byte) in bytes.reversed().prefix(4).enumerated() where !byte.isContinuation {
      return byte.scalarLength > back + 1 ? bytes.count - back - 1 : bytes.count
    }
    return bytes.count
  }
}

extension UInt8 {
  /// Inside a scalar's bytes (RFC 3629, 3).
  fileprivate var isContinuation: Bool { self & 0xc0 == 0x80 }

  /// Bytes of the scalar that begins with this one.
  fileprivate var scalarLength: Int {
    switch self {
    case 0xc0..<0xe0: 2
    case 0xe0..<0xf0: 3
    case 0xf0..<0xf8: 4
    default: 1
    }
  }
}
