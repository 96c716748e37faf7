import Foundation

/// Finds and reads templates.
public struct TemplateStore: Sendable {
  /// A template that was found.
  public struct Entry: Equatable, Sendable {
    /// The folder that it lies in.
    public var kind: TemplateKind
    /// That of the file, without `.pipeline`.
    public var name: String
    /// The place that it was found in.
    public var folder: TemplateSearchPath.Folder
    /// The path of the template that is taken instead of this one, if an earlier folder has the same kind and name.
    public var shadowedBy: String?

    /// Of the file, or what stands for it where it is inside the library.
    public var path: String { folder.path(of: kind, name) }
  }

  /// What a search gave.
  public struct Findings: Equatable, Sendable {
    /// By kind, name and then folder; those that an earlier folder hides are marked.
    public var entries: [Entry] = []
    /// What was passed over, and why.
    public var refusals: [TemplateRefusal] = []
  }

  /// Why there is no template.
  public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
    /// No place has it; what there is instead, and what was passed over.
    case notFound(
      kind: TemplateKind, name: String, searched: [String], known: [String], nearest: String?,
      refusals: [TemplateRefusal])
    /// The name is no name of a file in a folder.
    case badName(String)
    /// The system cannot read it.
    case unreadable(path: String, reason: String)
    /// A folder that was asked for, or what is in it, is not used.
    case refused(TemplateRefusal, TemplateSearchPath.Folder.Source)
    /// The template is wrong.
    case template(TemplateError)

    /// For people: what happened, and what to do about it.
    public var description: String {
      switch self {
      case .notFound(let kind, let name, let searched, let known, let nearest, let refusals):
        Self.notFound(kind, name, searched, known, nearest) + refusals.map { "; \($0)" }.joined()
      case .badName(let name): "\"\(name)\" is no template name; letters, digits, _, -, + and . are"
      case .unreadable(let path, let reason): "\(path): cannot be read: \(reason)"
      case .refused(let refusal, .environment): "$MEDIABRIDGE_PIPELINES: \(refusal)"
      case .refused(let refusal, _): refusal.description
      case .template(let error): error.description
      }
    }

    private static func notFound(
      _ kind: TemplateKind, _ name: String, _ searched: [String], _ known: [String], _ nearest: String?
    ) -> String {
      var text = "no \(kind.rawValue) template \"\(name)\""
      text += nearest.map { "; did you mean \($0)?" } ?? "."
      if !known.isEmpty { text += " There are: \(known.joined(separator: ", "))." }
      return text + " Looked in: " + (searched.isEmpty ? "no folder" : searched.joined(separator: ", "))
    }
  }

  /// Where it looks.
  public let searchPath: TemplateSearchPath
  private let onRefusal: @Sendable (TemplateRefusal) -> Void

  /// - Parameter onRefusal: told what `find` passed over, each time.
  public init(searchPath: TemplateSearchPath, onRefusal: @escaping @Sendable (TemplateRefusal) -> Void = { _ in }) {
    self.searchPath = searchPath
    self.onRefusal = onRefusal
  }

  /// Every template there is, of these kinds.
  /// - Throws: `refused` for what is in a folder that was asked for; what is in others is passed over.
  public func list(_ kinds: [TemplateKind] = TemplateKind.allCases) throws(Failure) -> Findings {
    var findings = Findings()
    for kind in kinds {
      let found = try look(for: kind)
      findings.entries += found.entries
      findings.refusals += found.refusals.filter { !findings.refusals.contains($0) }
    }
    return findings
  }

  /// Reads the first template of that kind and name.
  public func find(_ kind: TemplateKind, _ name: String) throws(Failure) -> Template {
    guard Self.isName(name) else { throw .badName(name) }
    let found = try look(for: kind)
    found.refusals.forEach(onRefusal)
    guard let entry = found.entries.first(where: { $0.name == name && $0.shadowedBy == nil }) else {
      let known = found.entries.filter { $0.shadowedBy == nil }.map(\.name)
      throw .notFound(
        kind: kind, name: name, searched: searchPath.folders.map { "\($0.path)/\(kind.rawValue)" }, known: known,
        nearest: NearestName.of(name, in: known), refusals: found.refusals)
    }
    return try read(entry)
  }

  /// The paths at which a template of that kind and name may be, whether there is one or not.
  package func paths(of kind: TemplateKind, _ name: String) -> [String] {
    searchPath.folders.filter { $0.source != .builtIn }.map { $0.path(of: kind, name) }
  }

  /// Reads a template that was found.
  public func read(_ entry: Entry) throws(Failure) -> Template {
    let text = try Self.text(entry.folder.bytes(of: entry.kind, entry.name), ofFile: entry.path)
    do {
      return try Template(kind: entry.kind, name: entry.name, file: entry.path, text: text)
    } catch { throw .template(error) }
  }

  private static func text(_ bytes: Data, ofFile path: String) throws(Failure) -> String {
    guard bytes.count <= Template.byteLimit else {
      throw .template(TemplateError(file: path, .tooLarge(bytes: bytes.count)))
    }
    // Some editors begin a file with this, and it would stand in front of the first comment.
    let mark = Data("\u{FEFF}".utf8)
    guard let text = String(validating: bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes, as: UTF8.self)
    else {
      throw .template(TemplateError(file: path, .notUTF8))
    }
    return text
  }

  /// Hidden files are none of ours, nor is what could lead out of a folder.
  package static func isName(_ name: String) -> Bool {
    LaunchQuoting.isPlainWord(name, allowing: "_-+.") && !name.hasPrefix(".")
  }

  private func look(for kind: TemplateKind) throws(Failure) -> Findings {
    var winners: [String: String] = [:]
    var findings = Findings()
    for folder in searchPath.folders {
      let contents = folder.contents(of: kind)
      if folder.isAskedFor, let refusal = contents.refusals.first { throw .refused(refusal, folder.source) }
      findings.refusals += contents.refusals.filter { $0.reason != .missing }
      for name in contents.names {
        let entry = Entry(kind: kind, name: name, folder: folder, shadowedBy: winners[name])
        findings.entries.append(entry)
        winners[name] = winners[name] ?? entry.path
      }
    }
    let ranked = findings.entries.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
    findings.entries = ranked.map(\.element)
    return findings
  }
}
