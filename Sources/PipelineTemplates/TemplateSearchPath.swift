import Foundation

/// The folders in which templates are looked for, the first one that has a name winning.
public struct TemplateSearchPath: Equatable, Sendable {
  public struct Folder: Equatable, Sendable {
    public enum Source: String, Sendable {
      /// Named on the command line or by the API.
      case explicit
      /// `$MEDIABRIDGE_PIPELINES`.
      case environment
      /// Below `$XDG_CONFIG_HOME` or `~/.config`.
      case user
      /// `share/mediabridge/pipelines` beside the executable's folder.
      case installed
      /// `pipelines` in a folder above the executable or above the current one.
      case checkout
    }

    public var path: String
    public var source: Source

    public init(path: String, source: Source) {
      self.path = path
      self.source = source
    }
  }

  public var folders: [Folder]

  public init(folders: [Folder]) { self.folders = folders }

  /// - Parameters:
  ///   - environment: `MEDIABRIDGE_PIPELINES` (one folder), `XDG_CONFIG_HOME` and `HOME` count; empty ones do not, nor a
  ///     relative `XDG_CONFIG_HOME` (XDG Base Directory Specification: such a path is to be ignored).
  ///   - executable: the absolute path of the running program, symbolic links resolved.
  ///   - currentFolder: relative folders are taken from here.
  public init(explicit: String?, environment: [String: String], executable: String?, currentFolder: String) {
    let set = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    folders = []
    if let explicit { add(explicit, .explicit, currentFolder) }
    if let path = set("MEDIABRIDGE_PIPELINES") { add(path, .environment, currentFolder) }
    let config = set("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? set("HOME").map { $0 + "/.config" }
    if let config { add(config + "/mediabridge/pipelines", .user, currentFolder) }
    let parent = executable.map(Self.parent(of:))
    if let parent { add(parent + "/../share/mediabridge/pipelines", .installed, currentFolder) }
    for start in [parent, currentFolder].compactMap({ $0 }) {
      for folder in Self.upwards(from: start) { add(folder + "/pipelines", .checkout, currentFolder) }
    }
  }

  /// With the environment, executable and folder of this process.
  public static func ofProcess(explicit: String? = nil) -> Self {
    let executable = Bundle.main.executablePath.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
    return Self(
      explicit: explicit, environment: ProcessInfo.processInfo.environment, executable: executable,
      currentFolder: FileManager.default.currentDirectoryPath)
  }

  private mutating func add(_ path: String, _ source: Folder.Source, _ currentFolder: String) {
    let absolute = Self.normalized(path.hasPrefix("/") ? path : currentFolder + "/" + path)
    if !folders.contains(where: { $0.path == absolute }) { folders.append(Folder(path: absolute, source: source)) }
  }

  /// Without empty, `.` and `..` parts. Only text: links have been resolved by whoever made the path.
  private static func normalized(_ path: String) -> String {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }

  private static func parent(of path: String) -> String { normalized(path + "/..") }

  /// The folder and those above it, without the root: nobody checks out there.
  private static func upwards(from path: String) -> [String] {
    let parts = normalized(path).split(separator: "/")
    return parts.indices.reversed().map { "/" + parts[...$0].joined(separator: "/") }
  }
}
