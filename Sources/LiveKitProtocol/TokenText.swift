/// A token as text, of which nothing has been checked but its form.
public enum TokenText {
  /// Whether `text` could be a token, as it can stand in a header: no space, no line end.
  public static func isWellFormed(_ text: String) -> Bool {
    (1...16_384).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }
}
