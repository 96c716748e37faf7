/// Why a session description could not be read: the 1-based line, what is wrong with it, and the start of that line.
public struct SDPError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Reason: Equatable, Sendable {
    /// More bytes, lines, media sections or repeated attributes than `SessionDescription.Limits` allows.
    case tooLarge(String)
    /// Something without which the rest has no meaning, such as the origin.
    case missing(String)
    /// Something that decides about the meaning of a section cannot be read.
    case malformed(String)
  }

  /// 1-based; 0 when the text as a whole is at fault.
  public let line: Int
  /// With words for what it is about.
  public let reason: Reason
  /// At most 80 bytes of the line.
  public let excerpt: String

  init(line: Int, _ reason: Reason, _ text: Substring = "") {
    self.line = line
    self.reason = reason
    self.excerpt = String(decoding: text.utf8.prefix(80), as: UTF8.self)
  }

  /// For people, with line and excerpt.
  public var description: String {
    let what =
      switch reason {
      case .tooLarge(let what): "too large: \(what)"
      case .missing(let what): "missing \(what)"
      case .malformed(let what): "malformed \(what)"
      }
    return line == 0 ? "SDP: \(what)" : "SDP line \(line): \(what)" + (excerpt.isEmpty ? "" : " in \"\(excerpt)\"")
  }
}
