/// What transport feedback says about one packet, and the chunks that pack it (the draft's 3.1.1 to 3.1.4).
enum PacketStatus: UInt16 {
  case lost = 0
  case small = 1
  case large = 2
  case reserved = 3

  init(_ delta: Int16?) {
    switch delta {
    case nil: self = .lost
    case .some(0...255): self = .small
    case .some: self = .large
    }
  }

  var deltaLength: Int {
    switch self {
    case .lost, .reserved: 0
    case .small: 1
    case .large: 2
    }
  }

  private init(bits: UInt16) { self = PacketStatus(rawValue: bits & 3) ?? .reserved }

  /// Reads chunks until `count` packets are known; nil when the bytes end before.
  static func parse(
    _ bytes: UnsafeRawBufferPointer, from start: Int, count: Int
  ) -> (statuses: [PacketStatus], end: Int)? {
    var statuses: [PacketStatus] = []
    statuses.reserveCapacity(count)
    var offset = start
    while statuses.count < count {
      guard offset + 2 <= bytes.count else { return nil }
      let chunk = bytes.load16(at: offset)
      offset += 2
      let room = count - statuses.count
      if chunk & 0x8000 == 0 {
        guard chunk & 0x1fff > 0 else { return nil }
        statuses.append(
          contentsOf: repeatElement(PacketStatus(bits: chunk >> 13), count: min(Int(chunk & 0x1fff), room)))
      } else if chunk & 0x4000 == 0 {
        for index in 0..<min(14, room) { statuses.append(chunk >> UInt16(13 - index) & 1 == 0 ? .lost : .small) }
      } else {
        for index in 0..<min(7, room) { statuses.append(PacketStatus(bits: chunk >> UInt16(12 - 2 * index))) }
      }
    }
    return (statuses, offset)
  }

  /// Packs greedily: a run where it reaches further than a vector would, then fourteen packets that need one bit
  /// each, then seven of any kind.
  static func chunks(_ statuses: [PacketStatus]) -> [UInt16] {
    var chunks: [UInt16] = []
    var rest = statuses[...]
    while let first = rest.first {
      let run = min(rest.prefix { $0 == first }.count, 0x1fff)
      let bits = rest.prefix(14).prefix { $0 != .large }.count
      if run >= 14 || run == rest.count || (run >= 7 && bits < 14) {
        chunks.append(first.rawValue << 13 | UInt16(run))
        rest.removeFirst(run)
      } else if bits == 14 || bits == rest.count {
        chunks.append(vector(rest.prefix(14), bitsEach: 1))
        rest = rest.dropFirst(14)
      } else {
        chunks.append(vector(rest.prefix(7), bitsEach: 2))
        rest = rest.dropFirst(7)
      }
    }
    return chunks
  }

  private static func vector(_ statuses: ArraySlice<PacketStatus>, bitsEach: Int) -> UInt16 {
    var shift = 14
    var chunk: UInt16 = bitsEach == 1 ? 0x8000 : 0xc000
    for status in statuses {
      shift -= bitsEach
      chunk |= status.rawValue << UInt16(shift)
    }
    return chunk
  }
}
