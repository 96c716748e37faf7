import Bitstream

/// A temporal unit of AV1, put together of the payloads of its packets (the AV1 RTP specification, 4 and 5).
///
/// It is read once to see whether it is whole, and how long, and then written in one piece, in the low-overhead format. The
/// temporal delimiter, which packets do not have, is not put back.
public struct AV1Assembly {
  private struct Unit {
    /// Which of the pieces.
    var pieces: Range<Int>
    /// Behind so many bytes a size is put in; 0 where there is one.
    var header: Int
    var payload: Int
  }

  /// More units, or pieces of them, are no frame, and would take more memory than they have bytes.
  private static let most = 16_384

  /// Bytes of the temporal unit; none where its packets had only delimiters.
  public private(set) var count = 0
  private var pieces: [UnsafeRawBufferPointer] = []
  private var units: [Unit] = []
  /// Of the pieces, where the unit begins that is being read.
  private var start = 0
  private var isOpen = false

  /// - Parameter payloads: of packets that follow each other; to stay readable while this is in use. Empty ones are passed
  ///   over.
  /// - Returns: nil where a piece is missing, or what came is no AV1.
  public init?(_ payloads: some Sequence<UnsafeRawBufferPointer>) {
    for payload in payloads where !payload.isEmpty {
      guard read(payload) else { return nil }
    }
    guard !isOpen else { return nil }
  }

  private mutating func read(_ payload: UnsafeRawBufferPointer) -> Bool {
    let flags = payload[0]
    guard (flags & AV1Aggregation.continues != 0) == isOpen else { return false }
    let counted = Int(flags >> AV1Aggregation.countShift & 3)
    var (offset, index) = (1, 0)
    while offset < payload.count {
      index += 1
      var length = payload.count - offset
      if index != counted {
        guard let said = LEB128.read(payload, at: offset), said.value <= length - said.length else { return false }
        (offset, length) = (offset + said.length, said.value)
      }
      guard pieces.count < Self.most else { return false }
      if length > 0 { pieces.append(UnsafeRawBufferPointer(rebasing: payload[offset..<(offset + length)])) }
      offset += length
      isOpen = offset == payload.count && flags & AV1Aggregation.isContinued != 0
      if !isOpen, !endUnit() { return false }
    }
    return counted == 0 || index == counted
  }

  /// Notes how the unit is written that the newest pieces are of.
  private mutating func endUnit() -> Bool {
    defer { start = pieces.count }
    let range = start..<pieces.count
    let length = pieces[range].reduce(0) { $0 + $1.count }
    guard length > 0 else { return true }
    let first = head(of: range)
    guard let unit = first.withUnsafeBytes({ Self.unit(range, $0, length) }) else { return false }
    guard AV1OBU.Kind(rawValue: first[0] >> 3 & 15) != .temporalDelimiter else { return true }
    count += unit.header > 0 ? length + LEB128.length(of: unit.payload) : length
    units.append(unit)
    return true
  }

  /// As much of a unit as its header and a size take at most.
  private func head(of range: Range<Int>) -> [UInt8] { Array(pieces[range].joined().prefix(10)) }

  private static func unit(_ pieces: Range<Int>, _ head: UnsafeRawBufferPointer, _ length: Int) -> Unit? {
    let header = head[0] & 4 == 0 ? 1 : 2
    guard head[0] & 0x80 == 0, length >= header else { return nil }
    guard head[0] & AV1OBU.hasSize != 0 else { return Unit(pieces: pieces, header: header, payload: length - header) }
    guard let size = LEB128.read(head, at: header), size.value == length - header - size.length else { return nil }
    return Unit(pieces: pieces, header: 0, payload: size.value)
  }

  /// Writes the temporal unit.
  /// - Parameter bytes: `count` of them at least.
  public func write(to bytes: UnsafeMutableRawBufferPointer) {
    var offset = 0
    func append(_ part: Slice<UnsafeRawBufferPointer>) {
      UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]).copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
      offset += part.count
    }
    for unit in units {
      let start = offset
      var header = unit.header
      for piece in pieces[unit.pieces] {
        let part = min(header, piece.count)
        append(piece[..<part])
        header -= part
        if part > 0, header == 0 { offset = LEB128.write(unit.payload, to: bytes, at: offset) }
        append(piece[part...])
      }
      bytes[start] |= AV1OBU.hasSize
    }
  }
}
