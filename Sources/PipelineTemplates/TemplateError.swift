/// What is wrong with a template or with the values for it; printed as `FILE:LINE: what`.
public struct TemplateError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Reason: Equatable, Sendable {
    /// `${` without `}` on the same line.
    case unterminatedVariable
    /// Not letters, digits, `_` and `-`.
    case badVariableName(String)
    /// Another default stands on line `other`.
    case conflictingDefaults(name: String, other: Int)
    /// A variable stands where no value could be told from syntax.
    case badPlace(name: String, String)
    /// A double quote is opened and not closed.
    case unterminatedQuote
    /// The variable has no default, and nobody gave a value.
    case missingValue(name: String)
    /// The value cannot stand in this place.
    case badValue(name: String, String)
    /// A value was given for a variable that the template does not have.
    case unknownVariable(name: String, known: [String], nearest: String?)
    /// More bytes than any pipeline has.
    case tooLarge(bytes: Int)
    /// The file is not text.
    case notUTF8
    /// There is nothing but comments.
    case empty
  }

  /// As it is to be shown in messages, usually a path.
  public var file: String
  /// 1-based; nil when the whole file or no line of it is meant.
  public var line: Int?
  /// What is wrong.
  public var reason: Reason

  /// - Parameter line: 1-based; nil when no line of the file is meant.
  public init(file: String, line: Int? = nil, _ reason: Reason) {
    self.file = file
    self.line = line
    self.reason = reason
  }

  /// `FILE:LINE: what`, for people.
  public var description: String { "\(file)\(line.map { ":\($0)" } ?? ""): \(what)" }

  private var what: String {
    switch reason {
    case .unterminatedVariable: "\"${\" without \"}\" on the same line"
    case .badVariableName(let name): "\"\(name)\" is no variable name; letters, digits, _ and - are"
    case .conflictingDefaults(let name, let other): "${\(name)} has another default on line \(other)"
    case .badPlace(let name, let why): "${\(name)} cannot stand here: \(why)"
    case .unterminatedQuote: "a double quote is opened and not closed"
    case .missingValue(let name): "${\(name)} has no value; give one with --set \(name)=VALUE"
    case .badValue(let name, let why): "the value of ${\(name)} \(why)"
    case .unknownVariable(let name, let known, let nearest): Self.unknown(name, known, nearest)
    case .tooLarge(let bytes): "\(bytes) bytes are too many for a template"
    case .notUTF8: "not UTF-8 text"
    case .empty: "no pipeline in it"
    }
  }

  private static func unknown(_ name: String, _ known: [String], _ nearest: String?) -> String {
    guard !known.isEmpty else { return "no variable \"\(name)\"; this template has none" }
    let hint = nearest.map { "; did you mean \($0)?" } ?? "."
    return "no variable \"\(name)\"\(hint) This template has: \(known.joined(separator: ", "))"
  }
}
