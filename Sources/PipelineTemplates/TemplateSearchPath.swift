import Foundation

/// The places in which templates are looked for, the first one that has a name winning.
public struct TemplateSearchPath: Equatable, Sendable {
  /// One place in which templates may be.
  public struct Folder: Equatable, Sendable {
    /// How it came to be searched.
    public enum Source: String, Sendable {
      /// Named on the command line or by the API.
      case explicit
      /// `$MEDIABRIDGE_PIPELINES`.
      case environment
      /// Below `$XDG_CONFIG_HOME` or `~/.config`.
      case user
      /// `share/mediabridge/pipelines` beside the `bin` in which the program is.
      case installed
      /// `pipelines` of the checkout in whose `.build` the program is.
      case checkout
      /// The templates inside the program.
      case builtIn
    }

    /// With a folder for each kind in it.
    public var path: String
    /// How it came to be searched.
    public var source: Source

    /// - Parameter path: absolute, or as it is to be shown.
    public init(path: String, source: Source) {
      self.path = path
      self.source = source
    }

    /// No folder at all: its path is for messages only.
    public static let builtIn = Folder(path: "(inside the program)", source: .builtIn)

    /// Whether somebody has named this folder, and wants to know when it is not used.
    var isAskedFor: Bool { source == .explicit || source == .environment }
  }

  /// The first that has a template wins.
  public var folders: [Folder]

  /// - Parameter folders: in the order in which they are searched.
  public init(folders: [Folder]) { self.folders = folders }

  /// - Parameters:
  ///   - environment: `MEDIABRIDGE_PIPELINES` (one folder), `XDG_CONFIG_HOME` and `HOME` count; empty ones do not, nor
  ///     a relative `XDG_CONFIG_HOME` (XDG Base Directory Specification: such a path is to be ignored).
  ///   - executable: the absolute path of the running program, symbolic links resolved.
  ///   - currentFolder: relative folders are taken from here; nothing else is looked for in it or above it.
  ///   - isCheckout: whether a folder is a checkout of this library.
  public init(
    explicit: String?, environment: [String: String], executable: String?, currentFolder: String,
    isCheckout: (String) -> Bool
  ) {
    let set = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    folders = []
    if let explicit { add(explicit, .explicit, currentFolder) }
    if let path = set("MEDIABRIDGE_PIPELINES") { add(path, .environment, currentFolder) }
    let config = set("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? set("HOME").map { $0 + "/.config" }
    if let config { add(config + "/mediabridge/pipelines", .user, currentFolder) }
    if let prefix = executable.flatMap(Self.prefix) {
      add(prefix + "/share/mediabridge/pipelines", .installed, currentFolder)
    }
    if let checkout = executable.flatMap(Self.buildOwner), isCheckout(checkout) {
      add(checkout + "/pipelines", .checkout, currentFolder)
    }
    folders.append(.builtIn)
  }

  /// What came with the program, without anything that a person has changed for themselves.
  public var shipped: Self {
    Self(folders: folders.filter { $0.source == .installed || $0.source == .checkout || $0.source == .builtIn })
  }

  /// Where a person's own templates go: the first folder that is theirs and was asked for, or else that of the user's
  /// configuration; nil where there is no home.
  public var own: Folder? { folders.first { $0.isAskedFor } ?? folders.first { $0.source == .user } }

  /// With the environment, executable and folder of this process.
  public static func ofProcess(explicit: String? = nil) -> Self {
    let executable = Bundle.main.executablePath.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
    return Self(
      explicit: explicit, environment: ProcessInfo.processInfo.environment, executable: executable,
      currentFolder: FileManager.default.currentDirectoryPath, isCheckout: isCheckout)
  }

  /// Whether the folder is a checkout of this library, and no other package that happens to have pipelines.
  static func isCheckout(_ folder: String) -> Bool {
    FileManager.default.fileExists(atPath: folder + "/Sources/PipelineTemplates/TemplateSearchPath.swift")
  }

  private mutating func add(_ path: String, _ source: Folder.Source, _ currentFolder: String) {
    let absolute = Self.normalized(path.hasPrefix("/") ? path : currentFolder + "/" + path)
    if !folders.contains(where: { $0.path == absolute }) { folders.append(Folder(path: absolute, source: source)) }
  }

  /// Without empty, `.` and `..` parts. Only template: links have been resolved by whoever made the path.
  private static func normalized(_ path: String) -> String {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }

  /// `/usr` of `/usr/bin/mediabridge`; nil for a program that is in no `bin`.
  private static func prefix(of executable: String) -> String? {
    let folders = executable.split(separator: "/").dropLast()
    return folders.last == "bin" ? "/" + folders.dropLast().joined(separator: "/") : nil
  }

  /// The folder whose `.build`, or another one such as `.build-tsan`, the program is in.
  private static func buildOwner(of executable: String) -> String? {
    let parts = executable.split(separator: "/")
    return parts.lastIndex { $0.hasPrefix(".build") }.map { "/" + parts[..<$0].joined(separator: "/") }
  }
}
