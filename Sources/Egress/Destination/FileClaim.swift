import Foundation
import Glibc
import MediaBridge
import MediaCore

/// The right to write a file, held while it is recorded: a second recording is refused before it truncates anything,
/// and a file that goes away meanwhile is noticed.
///
/// Pipes and devices are not claimed: opening a pipe tells its reader something, and a device is everybody's.
final class FileClaim: Sendable {
  private struct Hold {
    let handle: OpenFile
    let identity: FileIdentity
    /// Without symbolic links; nil for a file that was there before.
    let newPath: String?
    /// Made for it, the innermost first.
    var newFolders: [String] = []
    /// Of what it held when it was taken; nil once other contents were put into its place.
    var contents: FileContents?
  }

  /// What is seen of the file that is held; of nothing that is held nothing is.
  private struct Sight: Sendable {
    var loss: LiveKitError?
    var bytes: Int64?
  }

  private let file: String
  private let hold: Locked<Hold?>
  private let sight: DiskLook<Sight>
  /// Whether there was anything to hold.
  private let isRegular: Bool
  /// Whether it is held: known also while somebody writes, which a disk may hold up.
  private let held: Locked<Bool>
  /// Of all files of this process.
  private static let known = Locked(WrittenNames())

  /// Makes the file where there is none, and the folders that it is to lie in, and leaves what it holds alone.
  /// - Throws: it cannot be made or written, or another recording holds it.
  init(_ file: String) throws(LiveKitError) {
    self.file = file
    let folders = try MissingFolders.make(for: file)
    do throws(LiveKitError) {
      try Self.checkWritable(file)
      var hold = try Self.take(file)
      hold?.newFolders = folders
      isRegular = hold != nil
      held = Locked(hold != nil)
      let shared = Locked(hold)
      self.hold = shared
      sight = DiskLook(FileClaim.look(at: file, shared)) { FileClaim.look(at: file, shared) }
      // Into a pipe nothing is written over.
      if isRegular { Self.keep(file) }
    } catch {
      MissingFolders.remove(folders)
      throw error
    }
  }

  deinit { release() }

  /// Why what is written does not end up under the file's name any more; nil while it does. Where the disk does not
  /// answer, as it was when it did.
  var loss: LiveKitError? { isHeld ? sight.newest.loss : nil }

  /// A recording may have given back a thousand parts.
  private var isHeld: Bool { held.withLock { $0 } }

  /// Whether it is of the file that a path leads to.
  func isOf(_ path: String) -> Bool {
    let there = FileIdentity(path: path)
    return hold.withLock { $0.map { $0.identity == there } ?? false }
  }

  /// Size of the file; nil for what is no regular one. Where the disk does not answer, as it was when it did.
  var bytes: Int64? { isHeld ? sight.newest.bytes : nil }

  /// Waits for the disk.
  private static func look(at file: String, _ hold: Locked<Hold?>) -> Sight {
    while let held = hold.withLock({ $0 }) {
      let (there, code) = (FileIdentity(path: file), errno)
      let bytes = FileIdentity.size(of: held.handle.descriptor)
      // What was replaced or given back meanwhile is of another moment.
      guard hold.withLock({ $0?.identity == held.identity }) else { continue }
      return Sight(loss: loss(of: file, held.identity, there, code), bytes: bytes)
    }
    return Sight()
  }

  /// - Parameters:
  ///   - there: what lies under its name.
  ///   - code: why nothing does.
  private static func loss(
    of file: String, _ held: FileIdentity, _ there: FileIdentity?, _ code: Int32
  ) -> LiveKitError? {
    guard let there else {
      guard code == ENOENT || code == ENOTDIR else { return nil }
      return LiveKitError(.output, "\(file) was removed or renamed while it was being recorded")
    }
    guard there != held else { return nil }
    return LiveKitError(.output, "\(file) was replaced by another file while it was being recorded")
  }

  /// Puts other contents into its place, whole and at once, and holds these from now on.
  /// - Throws: why it cannot be, or that it was lost.
  func replace(with bytes: [UInt8]) throws(LiveKitError) {
    guard isHeld else { throw notHeld }
    if let loss { throw loss }
    try hold.withLock { hold throws(LiveKitError) in
      guard let held = hold else { throw notHeld }
      let handle = try OpenFile(descriptor: WholeFile.write(bytes, to: file))
      let identity = FileIdentity(descriptor: handle.descriptor) ?? held.identity
      hold = Hold(handle: handle, identity: identity, newPath: held.newPath, newFolders: held.newFolders)
    }
  }

  /// Takes out what was there before.
  /// - Throws: why it cannot be, or that the disk does not answer.
  func empty() throws(LiveKitError) {
    guard (bytes ?? 0) > 0 else { return }
    try Self.asking(file) { [self] () throws(LiveKitError) in try replace(with: []) }
  }

  /// Adds to the contents that it has put there.
  /// - Parameter tail: the last of those, which stays the last.
  /// - Throws: why it is not added, or that it was lost.
  func append(_ bytes: [UInt8], aheadOf tail: [UInt8] = []) throws(LiveKitError) {
    guard isHeld else { throw notHeld }
    if let loss { throw loss }
    try hold.withLock { hold throws(LiveKitError) in
      guard let hold else { throw notHeld }
      try WholeFile.append(bytes, aheadOf: tail, to: hold.handle.descriptor, of: file)
    }
  }

  private var notHeld: LiveKitError {
    guard isRegular else {
      return LiveKitError(
        .output, "\(file) is no regular file, which a playlist or an image has to be; name another one")
    }
    return LiveKitError(.output, "\(file) is closed already, and nothing comes into it any more")
  }

  /// - Throws: the recording that has just ended is not in the file, or the disk does not answer.
  func checkWritten(by template: String) throws(LiveKitError) {
    let sight = try Self.asking(file) { [file, hold] in Self.look(at: file, hold) }
    if let loss = sight.loss { throw loss }
    guard sight.bytes == 0 else { return }
    throw LiveKitError(
      .output,
      "\(file): nothing was written into it; the pipeline template 'output/\(template)' writes elsewhere: let it write to "
        + "${location}")
  }

  /// Lets others have it. A file that was made for this recording and holds nothing goes, with the folders that were made
  /// for it and hold nothing else. A disk that does not answer is left to itself.
  func release() {
    guard held.set(\.self, to: false) else { return }
    sight.perform { [file, hold] in
      let held = hold.withLock { hold in
        defer { hold = nil }
        return hold
      }
      if let held { Self.giveBack(held, file) }
    }
  }

  private static func giveBack(_ held: Hold, _ file: String) {
    let isThere = FileIdentity(path: file) == held.identity
    let contents = FileContents(descriptor: held.handle.descriptor)
    // Before the lock is given back: whoever gets it then sees that the name is free.
    if isThere, let path = held.newPath, contents?.bytes == 0 {
      unlink(path)
      MissingFolders.remove(held.newFolders)
    }
    // What was there before and has got nothing was not written here.
    if isThere, let contents, contents.bytes == 0 || contents == held.contents {
      known.withLock { $0.remove(file) }
    }
    held.handle.unlock()
  }

  // MARK: Taking it

  private static let attempts = 10

  private static func take(_ file: String) throws(LiveKitError) -> Hold? {
    for _ in 0..<attempts {
      let isNew = FileIdentity(path: file) == nil
      if !isNew && !FileIdentity.isRegular(path: file) { return nil }
      let descriptor = open(file, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else { throw notMade(file, errno) }
      if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
        close(descriptor)
        throw LiveKitError(.output, "another recording writes into \(file); choose another name, or end that one first")
      }
      // Whoever held it may have removed it meanwhile. A file system that knows no locks is used without.
      if let identity = FileIdentity(descriptor: descriptor), identity == FileIdentity(path: file) {
        return Hold(
          handle: OpenFile(descriptor: descriptor), identity: identity, newPath: isNew ? resolved(file) : nil,
          contents: FileContents(descriptor: descriptor))
      }
      close(descriptor)
    }
    throw LiveKitError(.output, "\(file) is removed again and again by another program; choose another file")
  }

  private static func notMade(_ file: String, _ code: Int32) -> LiveKitError {
    LiveKitError(
      .output,
      "\(file): no file can be written here (\(String(cString: strerror(code)))); choose another file or folder")
  }

  private static func resolved(_ file: String) -> String? {
    guard let path = realpath(file, nil) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }
}

extension FileClaim {
  /// Whether something of that name is there, or was written by this process and moved away.
  static func isTaken(_ file: String) -> Bool { isThere(file) || isKnown(file) }

  /// Whether this process has written a file of that name, or writes it. It does not ask the disk.
  static func isKnown(_ file: String) -> Bool { known.withLock { $0.hold(file) } }

  /// Takes a name, until its file is taken: nobody else of this process gets it meanwhile.
  /// - Parameter names: of what is to lie beside it; nil for nothing.
  /// - Returns: false where somebody of this process has it, or has had it, or something beside it.
  static func reserve(_ file: String, _ names: SegmentNames? = nil) -> Bool {
    // To a file system that knows no small letters it may be somebody's of another name.
    let isOnDisk = isThere(file)
    return known.withLock { known in
      if known.hold(file, ignoringCase: isOnDisk) { return false }
      if let names, known.hold(anyBeside: names) { return false }
      known.reserve(file, names)
      return true
    }
  }

  /// Something is written under a name, which stays taken.
  static func keep(_ file: String) { known.withLock { $0.add(file) } }

  /// The file of a name that was reserved is not taken.
  static func cancel(_ file: String) { known.withLock { $0.cancel(file) } }

  /// Notes what lies beside a playlist, or an image, that is written.
  static func note(_ names: SegmentNames) { known.withLock { $0.add(names.playlist, names) } }

  /// Whether something of that name is there.
  static func isThere(_ file: String) -> Bool { FileIdentity(path: file) != nil }
  /// Whether nothing is in it, or nothing there.
  static func isEmpty(_ file: String) -> Bool { (size(of: file) ?? 0) == 0 }
  /// Bytes of what is there; nil where nothing is.
  static func size(of file: String) -> Int64? { FileIdentity.size(path: file) }

  /// Says before a room is joined what would only be found out when the first frame comes.
  static func checkWritable(_ file: String) throws(LiveKitError) {
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
    let manager = FileManager.default
    var isFolder: ObjCBool = false
    guard manager.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw LiveKitError(.output, "\(file): \(folder) is no folder; choose another file")
    }
    if manager.fileExists(atPath: file, isDirectory: &isFolder), isFolder.boolValue {
      throw LiveKitError(.output, "\(file) is a folder; name a file in it")
    }
    let target = manager.fileExists(atPath: file) ? file : folder
    guard manager.isWritableFile(atPath: target) else {
      throw LiveKitError(.output, "\(file): no permission to write here; choose another file or folder")
    }
  }

  /// The same of a name whose placeholders nothing fills yet: whether there can be anything in the innermost folder that is
  /// known and there.
  static func checkFolder(ofName name: String) throws(LiveKitError) {
    // The first placeholder is a part of a file's name, or of a folder's.
    let folder = MissingFolders.above(name.prefix { $0 != "{" } + "_").there
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw LiveKitError(.output, "\(name): \(folder) is no folder; choose another file or folder")
    }
    guard FileManager.default.isWritableFile(atPath: folder) else {
      throw LiveKitError(.output, "\(name): no permission to write in \(folder); choose another file or folder")
    }
  }
}

/// What tells whether something was written into a file.
private struct FileContents: Equatable {
  let bytes: Int64
  private let seconds: Int
  private let nanoseconds: Int

  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    bytes = Int64(status.st_size)
    (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
  }
}

/// A file that is open for as long as somebody has it: who looks at it may be a moment behind who gives it back.
private final class OpenFile: Sendable {
  let descriptor: Int32

  init(descriptor: Int32) { self.descriptor = descriptor }
  deinit { close(descriptor) }

  /// Lets others have it at once.
  func unlock() { flock(descriptor, LOCK_UN) }
}

/// Which file it is, whatever its name.
private struct FileIdentity: Equatable {
  let device: dev_t
  let number: ino_t

  /// Of what the name leads to; nil with `errno` when there is nothing.
  init?(path: String) {
    guard let status = Self.status(path) else { return nil }
    self.init(status)
  }

  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init(_ status: stat) { (device, number) = (status.st_dev, status.st_ino) }

  static func isRegular(path: String) -> Bool { status(path).map { $0.st_mode & S_IFMT == S_IFREG } ?? false }

  static func size(of descriptor: Int32) -> Int64? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : nil
  }

  static func size(path: String) -> Int64? { status(path).map { Int64($0.st_size) } }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }
}
