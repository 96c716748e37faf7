// Everything works on UTF-8 code units: a Character would merge "\r\n", or a separator with a combining mark after it.

extension UInt8 {
  static let space = UInt8(ascii: " ")
  static let colon = UInt8(ascii: ":")
  static let equals = UInt8(ascii: "=")
  static let semicolon = UInt8(ascii: ";")
  static let slash = UInt8(ascii: "/")
}

extension Substring {
  /// The text before the first `separator`, and the text after it (nil when there is none).
  func cut(at separator: UInt8) -> (head: Substring, tail: Substring?) {
    guard let index = utf8.firstIndex(of: separator) else { return (self, nil) }
    return (self[..<index], self[utf8.index(after: index)...])
  }

  /// The parts between runs of spaces; at most `limit`, the last one then being the rest.
  func words(limit: Int = .max) -> [Substring] {
    utf8.split(separator: .space, maxSplits: limit == .max ? .max : limit - 1).map { Substring($0) }
  }

  func parts(separatedBy separator: UInt8) -> [Substring] {
    utf8.split(separator: separator).map { Substring($0) }
  }

  var trimmed: Substring {
    var text = utf8
    while let first = text.first, first == .space || first == 9 { text.removeFirst() }
    while let last = text.last, last == .space || last == 9 { text.removeLast() }
    return Substring(text)
  }
}

extension StringProtocol {
  /// ASCII comparison without case, which is how SDP compares encoding names and tokens (RFC 8866, 6.6).
  func equalsIgnoringCase(_ other: some StringProtocol) -> Bool {
    utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
  }
}

extension UInt8 {
  var asciiLowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}
