import Foundation

/// A template of a person's own, in a folder that is searched before what ships.
public struct OwnTemplate: Sendable {
  /// What it is for.
  public let kind: TemplateKind
  /// That of the file, without `.pipeline`.
  public let name: String
  /// Of the file.
  public let path: String

  private let folder: String

  /// - Throws: `badName` for what is no name.
  public init(kind: TemplateKind, name: String, in folder: TemplateSearchPath.Folder) throws(TemplateStore.Failure) {
    guard TemplateStore.isName(name) else { throw .badName(name) }
    (self.kind, self.name, self.folder) = (kind, name, folder.path)
    path = folder.path(of: kind, name)
  }

  /// Whether there is such a file, of whatever sort.
  public var exists: Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Makes the file, and folders that are missing, none of which others can write: those would not be used.
  /// - Throws: the system's reason, also where the file is there already.
  public func create(_ text: String) throws {
    try FileManager.default.createDirectory(
      atPath: "\(folder)/\(kind.rawValue)", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    fchmod(descriptor, 0o644)
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }
}
