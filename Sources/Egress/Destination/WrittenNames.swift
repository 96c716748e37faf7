import Foundation

/// Names of all that this process has written, or writes: what was moved away has had its name all the same. Pure.
struct WrittenNames: Sendable {
  private var files: Set<String> = []
  /// Of whoever is about to write.
  private var reserved: Set<String> = []
  /// All of them in small letters: to some file systems these are the same.
  private var folded: Set<String> = []
  /// What lies beside playlists and images, by the paths of these.
  private var segments: [String: SegmentNames] = [:]

  /// What the manifest beside a file ends in.
  private static let manifest = ".json"

  /// Whether a file of that path is among them, or lies where something beside one of them does.
  /// - Parameter ignoringCase: whether that is so, too, for one that is written in other letters.
  func hold(_ file: String, ignoringCase: Bool = false) -> Bool {
    let path = Self.standardized(file)
    if has(path) || ignoringCase && folded.contains(path.lowercased()) { return true }
    if has(path + Self.manifest) { return true }
    if path.hasSuffix(Self.manifest), has(String(path.dropLast(Self.manifest.count))) { return true }
    let folder = Self.folder(of: path)
    let name = String(path.dropFirst(folder.count))
    return segments.contains { Self.folder(of: $0.key) == folder && $0.value.isBeside(name) }
  }

  /// Whether something that is to lie beside a playlist, or an image, is among them.
  func hold(anyBeside names: SegmentNames) -> Bool {
    let path = Self.standardized(names.playlist)
    let folder = Self.folder(of: path)
    return [files, reserved].contains { paths in
      paths.contains { $0.hasPrefix(folder) && names.isBeside(String($0.dropFirst(folder.count))) }
    }
  }

  /// Notes that it is written from now on.
  /// - Parameter names: of what lies beside it; nil where nothing is known of that.
  mutating func add(_ file: String, _ names: SegmentNames? = nil) {
    let path = Self.standardized(file)
    files.insert(path)
    reserved.remove(path)
    note(path, names)
  }

  /// Notes that it is about to be written.
  mutating func reserve(_ file: String, _ names: SegmentNames?) {
    let path = Self.standardized(file)
    reserved.insert(path)
    note(path, names)
  }

  /// Nothing was written under a name that was reserved; what somebody has taken since stays.
  mutating func cancel(_ file: String) {
    let path = Self.standardized(file)
    if reserved.remove(path) != nil { forget(path) }
  }

  /// Nothing was written into it.
  mutating func remove(_ file: String) {
    let path = Self.standardized(file)
    if files.remove(path) != nil { forget(path) }
  }

  private func has(_ path: String) -> Bool { files.contains(path) || reserved.contains(path) }

  private mutating func note(_ path: String, _ names: SegmentNames?) {
    folded.insert(path.lowercased())
    if let names { segments[path] = names }
  }

  private mutating func forget(_ path: String) {
    guard !has(path) else { return }
    folded.remove(path.lowercased())
    segments[path] = nil
  }

  /// By its letters alone: the disk may not answer.
  private static func standardized(_ file: String) -> String {
    URL(fileURLWithPath: file, isDirectory: false).standardized.path
  }

  /// With the slash at its end.
  private static func folder(of path: String) -> Substring { path.lastIndex(of: "/").map { path[...$0] } ?? "" }
}
