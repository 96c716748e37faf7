import GStreamerKit

/// What is seen of a participant without a camera. Pure.
struct Placeholder: Hashable, Sendable {
  let initials: String
  /// Nil where names are written over all tiles.
  let name: String?
  let color: FrameColor

  /// - Parameter identity: decides about the colour, so that a participant keeps it.
  init(name: String, identity: String, showsName: Bool) {
    initials = Self.initials(of: name)
    self.name = showsName ? name : nil
    color = Self.colors[Int(Self.hash(identity) % UInt32(Self.colors.count))]
  }

  /// Of the first and the last word where letters have cases, else of the first: letters of other scripts join, or are
  /// syllables. What begins with no letter is seen by its first sign.
  static func initials(of name: String) -> String {
    let words = name.split { $0.isWhitespace || "-_.@".contains($0) }
    let letters = words.compactMap { word in word.unicodeScalars.first(where: isLetter) }
    guard let first = letters.first else {
      return words.lazy.compactMap { $0.unicodeScalars.first }.first.map { String($0) } ?? "?"
    }
    let last = letters.count > 1 && first.properties.isCased ? letters.last : nil
    return [first, last].compactMap { $0?.properties.uppercaseMapping }.joined()
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isAlphabetic || scalar.properties.numericType != nil
  }

  /// Dark enough for white letters.
  private static let colors: [FrameColor] = [
    0x1f4e79, 0x5b3a8e, 0x7a2e4d, 0x8a3b12, 0x6b5a12, 0x2f6b2f, 0x136b6b, 0x4a4f58,
  ].map(FrameColor.init(rgb:))

  /// FNV-1a: the same in every process, unlike Swift's own.
  private static func hash(_ text: String) -> UInt32 {
    text.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }
}
