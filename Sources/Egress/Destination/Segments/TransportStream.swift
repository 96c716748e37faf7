import MediaCore

/// MPEG-TS by its packets (ISO/IEC 13818-1, 2.4.3), one at a time. Pure.
///
/// The tables, without which nothing can be played, come now and then; here they are put in front of each segment instead,
/// counted anew (2.4.3.3) so that a player of all segments misses nothing.
struct TransportStream: SegmentFormat {
  let ending = "ts"
  let initialization: [UInt8]? = nil
  /// GStreamer's mpegtsmux begins an hour in.
  let ticks = 3600 * 90_000
  private let hasVideo: Bool
  /// The newest association table and the map tables that it names, by where they stand.
  private var tables: [UInt16: [UInt8]] = [:]
  private var maps: Set<UInt16> = []
  private var counters: [UInt16: UInt8] = [:]
  /// The stream whose frames segments begin with.
  private var leader: UInt16?
  /// Whether its first keyframe has parameter sets of H.264, so that no other frame is one without.
  private var hasParameterSets = false

  private static let packet = 188
  private static let association: UInt16 = 0
  /// Other tables stand below, packets that fill up at the end.
  private static let streams: ClosedRange<UInt16> = 0x20...0x1ffe

  /// - Parameter hasVideo: whether segments begin with keyframes of video; else with any stretch of audio.
  init(hasVideo: Bool) { self.hasVideo = hasVideo }

  mutating func take(_ bytes: UnsafeRawBufferPointer, at time: Duration?) -> SegmentPiece {
    guard bytes.count == Self.packet, bytes[0] == 0x47 else { return .more }
    let number = UInt16(bytes[1] & 0x1f) << 8 | UInt16(bytes[2])
    let isStart = bytes[1] & 0x40 != 0
    if number == Self.association || maps.contains(number) {
      keep(bytes, number, isStart)
      return .apart
    }
    guard Self.streams.contains(number) else { return .apart }
    let isKeyframe = !hasVideo || (Self.isRandomAccess(bytes) && (!hasParameterSets || Self.hasParameterSet(bytes)))
    if leader == nil, isKeyframe { (leader, hasParameterSets) = (number, hasVideo && Self.hasParameterSet(bytes)) }
    guard isStart, number == leader, let time else { return .more }
    return .frame(time, isKeyframe: isKeyframe, lasting: nil)
  }

  /// The indicator in the adaptation field (2.4.3.5), which a keyframe's first packet has; GStreamer's flags come later.
  private static func isRandomAccess(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes[3] & 0x20 != 0 && bytes[4] > 0 && bytes[5] & 0x40 != 0
  }

  /// GStreamer's parser takes any frame of I slices for a keyframe, but only gives parameter sets to one from which a
  /// decoder can begin.
  private static func hasParameterSet(_ bytes: UnsafeRawBufferPointer) -> Bool {
    (4..<bytes.count - 3).contains { place in
      bytes[place] == 0 && bytes[place + 1] == 0 && bytes[place + 2] == 1 && bytes[place + 3] & 0x1f == 7
    }
  }

  private mutating func keep(_ bytes: UnsafeRawBufferPointer, _ number: UInt16, _ isStart: Bool) {
    tables[number] = (isStart ? [] : tables[number] ?? []) + bytes
    if isStart, number == Self.association { maps = Self.maps(in: bytes) }
  }

  /// The packets in which an association table says that map tables stand (2.4.4.3).
  private static func maps(in bytes: UnsafeRawBufferPointer) -> Set<UInt16> {
    let section = 5 + Int(bytes[4])
    guard section + 8 < bytes.count else { return [] }
    let end = section + 3 + (Int(bytes[section + 1] & 0x0f) << 8 | Int(bytes[section + 2])) - 4
    let places = stride(from: section + 8, through: min(end, bytes.count) - 4, by: 4)
    return places.reduce(into: []) { maps, place in
      let isProgram = bytes[place] != 0 || bytes[place + 1] != 0
      if isProgram { maps.insert(UInt16(bytes[place + 2] & 0x1f) << 8 | UInt16(bytes[place + 3])) }
    }
  }

  mutating func head() -> [UInt8] {
    tables.keys.sorted().reduce(into: []) { head, number in
      guard var table = tables[number] else { return }
      for start in stride(from: 0, to: table.count, by: Self.packet) {
        table[start + 3] = table[start + 3] & 0xf0 | counters[number, default: 0]
        counters[number] = (counters[number, default: 0] + 1) & 0x0f
      }
      head += table
    }
  }
}
