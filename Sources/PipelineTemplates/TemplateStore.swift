import Foundation

/// Finds and reads `KIND/NAME.pipeline` files.
public struct TemplateStore: Sendable {
  /// A template file that was found.
  public struct Entry: Equatable, Sendable {
    public var kind: TemplateKind
    public var name: String
    public var path: String
    public var source: TemplateSearchPath.Folder.Source
    /// The file that is taken instead of this one, if an earlier folder has the same kind and name.
    public var shadowedBy: String?
  }

  public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
    case notFound(kind: TemplateKind, name: String, searched: [String], known: [String], nearest: String?)
    /// The name is no name of a file in a folder.
    case badName(String)
    case unreadable(path: String, reason: String)
    case template(TemplateError)

    public var description: String {
      switch self {
      case .notFound(let kind, let name, let searched, let known, let nearest):
        Self.notFound(kind, name, searched, known, nearest)
      case .badName(let name): "\"\(name)\" is no template name; letters, digits, _, -, + and . are"
      case .unreadable(let path, let reason): "\(path): cannot be read: \(reason)"
      case .template(let error): error.description
      }
    }

    private static func notFound(
      _ kind: TemplateKind, _ name: String, _ searched: [String], _ known: [String], _ nearest: String?
    ) -> String {
      var text = "no \(kind.rawValue) template \"\(name)\""
      if let nearest { text += "; did you mean \(nearest)?" }
      if !known.isEmpty { text += " There are: \(known.joined(separator: ", "))." }
      return text + " Looked in: " + (searched.isEmpty ? "no folder" : searched.joined(separator: ", "))
    }
  }

  static let fileExtension = ".pipeline"

  public let searchPath: TemplateSearchPath

  public init(searchPath: TemplateSearchPath) { self.searchPath = searchPath }

  /// Every template file by kind, name and then folder; those that an earlier folder hides are marked.
  public func list() -> [Entry] { TemplateKind.allCases.flatMap(entries) }

  /// Reads the first template of that kind and name.
  public func find(_ kind: TemplateKind, _ name: String) throws(Failure) -> Template {
    guard LaunchQuoting.isPlainWord(name, allowing: "_-+."), name.utf8.first != UInt8(ascii: ".") else {
      throw .badName(name)
    }
    let entries = entries(kind)
    guard let entry = entries.first(where: { $0.name == name && $0.shadowedBy == nil }) else {
      let known = entries.filter { $0.shadowedBy == nil }.map(\.name)
      throw .notFound(
        kind: kind, name: name, searched: searchPath.folders.map { "\($0.path)/\(kind.rawValue)" }, known: known,
        nearest: NearestName.of(name, in: known))
    }
    return try read(entry)
  }

  public func read(_ entry: Entry) throws(Failure) -> Template {
    let text = try Self.text(ofFile: entry.path)
    do {
      return try Template(kind: entry.kind, name: entry.name, file: entry.path, text: text)
    } catch { throw .template(error) }
  }

  private static func text(ofFile path: String) throws(Failure) -> String {
    let bytes: Data
    do {
      let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      defer { try? handle.close() }
      // One byte more than a template may have, so that the template itself says that it is too large.
      bytes = try handle.read(upToCount: Template.byteLimit + 1) ?? Data()
    } catch { throw .unreadable(path: path, reason: error.localizedDescription) }
    guard bytes.count <= Template.byteLimit else {
      throw .template(TemplateError(file: path, .tooLarge(bytes: bytes.count)))
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .template(TemplateError(file: path, .notUTF8))
    }
    return text
  }

  private func entries(_ kind: TemplateKind) -> [Entry] {
    var winners: [String: String] = [:]
    var all: [(rank: Int, entry: Entry)] = []
    for (rank, folder) in searchPath.folders.enumerated() {
      for name in Self.names(in: "\(folder.path)/\(kind.rawValue)") {
        let path = "\(folder.path)/\(kind.rawValue)/\(name)\(Self.fileExtension)"
        let entry = Entry(kind: kind, name: name, path: path, source: folder.source, shadowedBy: winners[name])
        all.append((rank, entry))
        winners[name] = winners[name] ?? path
      }
    }
    return all.sorted { ($0.entry.name, $0.rank) < ($1.entry.name, $1.rank) }.map(\.entry)
  }

  /// A folder that is not there has no names; hidden files and folders are none of ours.
  private static func names(in folder: String) -> [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return files.filter { $0.hasSuffix(fileExtension) && isFile("\(folder)/\($0)") }
      .map { String($0.dropLast(fileExtension.count)) }
      .filter { LaunchQuoting.isPlainWord($0, allowing: "_-+.") && !$0.hasPrefix(".") }
  }

  /// Links are followed. A pipe or a device is passed over, since reading one may never end.
  private static func isFile(_ path: String) -> Bool {
    let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let type = try? FileManager.default.attributesOfItem(atPath: resolved)[.type] as? FileAttributeType
    return type == .typeRegular
  }
}
