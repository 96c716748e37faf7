extension PrintableText {
  /// As much of it as stands in so many columns of a terminal; "…" ends what was cut.
  public func prefix(columns: Int) -> String {
    guard description.unicodeScalars.lazy.map(\.columns).reduce(0, +) > columns else { return description }
    var rest = max(0, columns - 1)
    let kept = description.unicodeScalars.prefix { scalar in
      rest -= scalar.columns
      return rest >= 0
    }
    return String(kept) + "…"
  }
}

extension Unicode.Scalar {
  /// Wide characters of East Asia and pictographs (UAX #11), in blocks.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
    0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f900...0x1faff, 0x20000...0x3fffd,
  ]

  /// How many columns most terminals take for it.
  package var columns: Int {
    if value < 0x300 { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    default: return properties.isEmojiPresentation || Self.wide.contains { $0.contains(value) } ? 2 : 1
    }
  }
}
