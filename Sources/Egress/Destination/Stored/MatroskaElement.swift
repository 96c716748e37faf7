/// An element of a Matroska or WebM file (RFC 8794, 6).
struct MatroskaElement {
  enum ID {
    static let header: UInt64 = 0x1a45_dfa3
    static let segment: UInt64 = 0x1853_8067
    static let seekHead: UInt64 = 0x114d_9b74
    static let seekID: UInt64 = 0x53ab
    static let seekPosition: UInt64 = 0x53ac
    static let info: UInt64 = 0x1549_a966
    static let timestampScale: UInt64 = 0x2a_d7b1
    static let tracks: UInt64 = 0x1654_ae6b
    static let track: UInt64 = 0xae
    static let trackNumber: UInt64 = 0xd7
    static let trackType: UInt64 = 0x83
    static let defaultDuration: UInt64 = 0x23_e383
    static let cluster: UInt64 = 0x1f43_b675
    static let timestamp: UInt64 = 0xe7
    static let simpleBlock: UInt64 = 0xa3
    static let blockGroup: UInt64 = 0xa0
    static let block: UInt64 = 0xa1
    static let blockDuration: UInt64 = 0x9b
    static let cues: UInt64 = 0x1c53_bb6b
    static let cueTrackPositions: UInt64 = 0xb7
    static let cueClusterPosition: UInt64 = 0xf1
  }

  let id: UInt64
  let start: Int64
  /// Where its size stands, up to `body`.
  private let size: Int64
  let body: Int64
  /// Where it says that it ends, which may lie behind the file's end; nil for one of unknown size.
  let end: Int64?

  init?(of source: ByteSource, at start: Int64, limit: Int64) {
    guard start < limit, let (id, idSize) = Self.number(of: source, at: start, keepsMarker: true), idSize <= 4,
      let (size, sizeSize) = Self.number(of: source, at: start + Int64(idSize), keepsMarker: false)
    else { return nil }
    self.id = id
    self.start = start
    self.size = start + Int64(idSize)
    body = start + Int64(idSize + sizeSize)
    let isUnknown = size == (1 << (7 * UInt64(sizeSize))) - 1
    end = isUnknown ? nil : body + Int64(size)
  }

  /// A number that says its own size by its leading zeros; an element's ID keeps the marker behind them.
  private static func number(
    of source: ByteSource, at place: Int64, keepsMarker: Bool
  ) -> (value: UInt64, size: Int)? {
    let bytes = source.bytes(at: place, 8)
    guard let first = bytes.first, first != 0, bytes.count > first.leadingZeroBitCount else { return nil }
    let size = first.leadingZeroBitCount + 1
    let value = bytes.prefix(size).reduce(0) { $0 << 8 | UInt64($1) }
    return (keepsMarker ? value : value & (1 << (7 * UInt64(size)) - 1), size)
  }

  /// What is to be written where, so that an element that says it ends later ends at `end`.
  func correction(to end: Int64) -> StoredMedia.Correction? {
    guard let claimed = self.end, claimed > end, end >= body else { return nil }
    let width = Int(body - size)
    var bytes = (0..<width).reversed().map { UInt8(UInt64(end - body) >> ($0 * 8) & 0xff) }
    bytes[0] |= 0x80 >> UInt8(width - 1)
    return StoredMedia.Correction(place: size, bytes: bytes)
  }

  func isWhole(in source: ByteSource) -> Bool { end.map { $0 <= source.count } ?? false }

  /// The elements from `start` on that are whole.
  /// - Parameter isLast: whether those behind it are not looked for.
  static func whole(
    of source: ByteSource, from start: Int64, to limit: Int64,
    upTo isLast: (MatroskaElement) -> Bool = { _ in false }
  ) -> [MatroskaElement] {
    var elements: [MatroskaElement] = []
    var place = start
    while let element = MatroskaElement(of: source, at: place, limit: limit), let end = element.end, end <= limit {
      elements.append(element)
      if isLast(element) { break }
      place = end
    }
    return elements
  }

  func children(of source: ByteSource) -> [MatroskaElement] {
    Self.whole(of: source, from: body, to: min(end ?? source.count, source.count))
  }

  func child(_ id: UInt64, of source: ByteSource) -> MatroskaElement? { children(of: source).first { $0.id == id } }

  /// What an element of a number holds.
  func number(of source: ByteSource) -> UInt64? {
    guard let end, (1...8).contains(end - body) else { return nil }
    return source.number(at: body, Int(end - body))
  }
}
