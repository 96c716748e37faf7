import Glibc

/// A file that an output has written, once nobody writes it any more.
struct StoredFile {
  let path: String
  /// What stood in front of the media before the file was completed.
  private let beginning: [UInt8]

  /// Take it before the file is completed: a muxer that completes an MP4 first hides its fragments behind a new header
  /// and then writes the index, for which a full disk has no room.
  init(beingWritten path: String) {
    self.path = path
    let look = DiskLook<[UInt8]>([], patience: .seconds(1)) {
      Self.open(path, O_RDONLY) { source, _ in Self.header(of: source) } ?? []
    }
    beginning = look.newest
  }

  /// Up to the media of the first fragment.
  static func header(of source: ByteSource) -> [UInt8] {
    let boxes = MP4Box.boxes(of: source, from: 0, to: source.count) { $0.type == "mdat" }
    guard boxes.first?.type == "ftyp", let data = boxes.last, data.type == "mdat", data.body < 4096 else { return [] }
    return source.bytes(at: 0, Int(data.body))
  }

  /// What is in a file that was completed.
  func read() -> StoredMedia? { Self.open(path, O_RDONLY) { source, _ in StoredMedia(of: source) } ?? nil }

  /// Makes a file that could not be completed playable: brings back its fragments, and cuts what is not whole. One of
  /// which nothing can be played stays as it is.
  /// - Returns: what is in it then.
  func mend() -> StoredMedia? {
    Self.open(path, O_RDWR) { source, descriptor -> StoredMedia? in
      if StoredMedia(of: source) == nil { _ = pwrite(descriptor, beginning, beginning.count, 0) }
      guard let stored = StoredMedia(of: source) else { return nil }
      for correction in stored.corrections {
        _ = pwrite(descriptor, correction.bytes, correction.bytes.count, off_t(correction.place))
      }
      return stored.end == source.count || ftruncate(descriptor, off_t(stored.end)) == 0 ? stored : nil
    } ?? nil
  }

  /// Nothing but a regular file: a pipe would be waited for, and a device has no length.
  private static func open<Result>(_ path: String, _ mode: Int32, _ body: (ByteSource, Int32) -> Result) -> Result? {
    let descriptor = Glibc.open(path, mode | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return body(ByteSource(descriptor: descriptor, count: Int64(status.st_size)), descriptor)
  }
}
