/// What is wrong with a template or with the values for it; printed as `FILE:LINE: what`.
public struct TemplateError: Error, Equatable, Sendable, CustomStringConvertible {
  public enum Reason: Equatable, Sendable {
    case unterminatedVariable
    case badVariableName(String)
    case conflictingDefaults(name: String, other: Int)
    /// A variable stands where no value could be told from syntax.
    case badPlace(name: String, String)
    case unterminatedQuote
    case missingValue(name: String)
    /// The value cannot stand in this place.
    case badValue(name: String, String)
    case unknownVariable(name: String, known: [String], nearest: String?)
    case tooLarge(bytes: Int)
    case notUTF8
    case empty
  }

  public var file: String
  /// 1-based; nil when the whole file or no line of it is meant.
  public var line: Int?
  public var reason: Reason

  public init(file: String, line: Int? = nil, _ reason: Reason) {
    self.file = file
    self.line = line
    self.reason = reason
  }

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
