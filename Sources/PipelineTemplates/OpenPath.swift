import Foundation

/// A folder or file that is open: what was checked is what is read, whatever happens to its name meanwhile. Links are
/// followed, since what counts is who could have written what they lead to.
struct OpenPath: ~Copyable {
  let path: String
  private let descriptor: Int32

  private init(path: String, descriptor: Int32) { (self.path, self.descriptor) = (path, descriptor) }

  deinit { close(descriptor) }

  /// Opens a folder that nobody else can write.
  static func folder(_ path: String) throws(TemplateRefusal) -> OpenPath {
    try opened(path, Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
  }

  /// Opens what is in this folder, if nobody else can write it.
  func open(_ name: String, isFolder: Bool) throws(TemplateRefusal) -> OpenPath {
    // Opening a pipe would wait for whoever writes it.
    let flags = O_RDONLY | O_CLOEXEC | (isFolder ? O_DIRECTORY : O_NONBLOCK | O_NOCTTY)
    return try Self.opened("\(path)/\(name)", openat(descriptor, name, flags))
  }

  private static func opened(_ path: String, _ descriptor: Int32) throws(TemplateRefusal) -> OpenPath {
    guard descriptor >= 0 else { throw TemplateRefusal(path: path, reason: .ofLastError) }
    let opened = OpenPath(path: path, descriptor: descriptor)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw TemplateRefusal(path: path, reason: .ofLastError) }
    if let reason = TemplateRefusal.Reason(status, user: geteuid()) {
      throw TemplateRefusal(path: path, reason: reason)
    }
    return opened
  }

  /// The names in this folder.
  var names: [String] {
    guard let stream = fdopendir(dup(descriptor)) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      // Safe: the C library ends the name with a zero within its field.
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names
  }

  /// Whether it is a plain file: reading a pipe or a device may never end.
  var isFile: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// At most so many bytes of this file.
  func read(upTo count: Int) throws -> Data {
    try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).read(upToCount: count) ?? Data()
  }
}
