import MediaCore

/// What a label says as it can be shown, whoever wrote it: a few lines of visible characters. Pure.
///
/// What has no shape goes: controls, and what turns the direction of the text. What is too long ends in "…".
package enum LabelText {
  private static let lines = 4
  /// Of what fits, each line that begins costs a fifth: others wrap beside it.
  private static let lineShare = 5
  /// Marks above and below one letter. More of them would be a tower over the picture.
  private static let marks = 4
  /// Of a text that never becomes visible.
  private static let most = 10_000

  /// - Parameters:
  ///   - columns: as wide as so many letters, two for one of East Asia.
  ///   - isFlowing: whether its lines are one, which somebody else wraps.
  package static func shown(_ text: String, columns: Int, isFlowing: Bool = false) -> String {
    var shown = Shown(columns: columns, isFlowing: isFlowing)
    var isWhole = true
    for (index, scalar) in text.unicodeScalars.enumerated() {
      isWhole = index < most && shown.append(scalar)
      if !isWhole { break }
    }
    return isWhole ? shown.text : shown.text.isEmpty ? "" : shown.text + "…"
  }

  private struct Shown {
    private var rest: Int
    private let lineColumns: Int
    private let isFlowing: Bool
    var text = ""
    private var lines = 1
    private var marks = 0
    /// What is between the last letter and the next.
    private var gap: Character?

    init(columns: Int, isFlowing: Bool) {
      (rest, lineColumns, self.isFlowing) = (columns, columns / LabelText.lineShare, isFlowing)
    }

    /// - Returns: whether there is room.
    mutating func append(_ scalar: Unicode.Scalar) -> Bool {
      if let space = LabelText.space(scalar) {
        if !text.isEmpty, gap != "\n" { gap = isFlowing ? " " : space }
        return true
      }
      let isJoiner = LabelText.joiners.contains(scalar.value)
      guard isJoiner || LabelText.isVisible(scalar) else { return true }
      let columns = scalar.columns
      marks = columns == 0 || isJoiner ? marks + 1 : 0
      guard marks <= LabelText.marks else { return true }
      lines += gap == "\n" ? 1 : 0
      rest -= columns + (gap == "\n" ? lineColumns : gap == nil ? 0 : 1)
      guard rest >= 0, lines <= LabelText.lines else { return false }
      if let gap { text.append(gap) }
      text.unicodeScalars.append(scalar)
      gap = nil
      return true
    }
  }

  /// What shapes words of Persian, of India and emoji: they stand between letters, and turn nothing.
  private static let joiners: Set<UInt32> = [0x200c, 0x200d, 0xfe0e, 0xfe0f]

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned: false
    default: !scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  /// What parts words, or lines.
  private static func space(_ scalar: Unicode.Scalar) -> Character? {
    switch scalar {
    case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}": "\n"
    case _ where scalar.properties.isWhitespace: " "
    default: nil
    }
  }
}
