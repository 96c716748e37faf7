/// A box of an ISO base media file (ISO/IEC 14496-12, 4.2).
struct MP4Box {
  let type: String
  /// Of the header.
  let start: Int64
  /// Of what is in it.
  let body: Int64
  let end: Int64
  /// The box goes on to the end of the file, because nobody has said yet where it ends.
  let isOpen: Bool

  /// The boxes from `start` on that end at or before `end`.
  /// - Parameter isLast: whether those behind it are not looked for.
  static func boxes(
    of source: ByteSource, from start: Int64, to end: Int64, upTo isLast: (MP4Box) -> Bool = { _ in false }
  ) -> [MP4Box] {
    var boxes: [MP4Box] = []
    var place = start
    while let box = MP4Box(of: source, at: place, limit: end) {
      boxes.append(box)
      if isLast(box) { break }
      place = box.end
    }
    return boxes
  }

  private init?(of source: ByteSource, at start: Int64, limit: Int64) {
    guard start <= limit - 8, let short = source.number(at: start, 4) else { return nil }
    var (size, header) = (short, Int64(8))
    if short == 1 {
      guard let long = source.number(at: start + 8, 8) else { return nil }
      (size, header) = (long, 16)
    }
    let room = UInt64(limit - start)
    if short == 0 { size = room }
    guard size >= UInt64(header), size <= room else { return nil }
    type = String(decoding: source.bytes(at: start + 4, 4), as: UTF8.self)
    self.start = start
    body = start + header
    end = start + Int64(size)
    isOpen = short == 0
  }

  func children(of source: ByteSource) -> [MP4Box] { Self.boxes(of: source, from: body, to: end) }

  func child(_ type: String, of source: ByteSource) -> MP4Box? { children(of: source).first { $0.type == type } }

  /// Version and flags of a full box (4.2.2).
  func versionAndFlags(of source: ByteSource) -> (version: UInt64, flags: UInt64)? {
    number(at: 0, 4, of: source).map { ($0 >> 24, $0 & 0xff_ffff) }
  }

  /// A number in the box; nil where it does not reach that far.
  func number(at offset: Int64, _ size: Int, of source: ByteSource) -> UInt64? {
    offset <= end - body - Int64(size) ? source.number(at: body + offset, size) : nil
  }
}
