/// Follows temporal units of AV1 as far as needed to repeat a frame. Black ones are not written here.
struct AV1Stream: RepeatableStream {
  private var sequence: AV1SequenceHeader?
  private var slots = ReferenceSlots(count: 8)
  /// Which slots hold keyframes, which may not be shown again from there (7.21).
  private var keySlots = 0
  /// The numbers of the frames in the slots.
  private var ids = [Int](repeating: 0, count: 8)
  /// The newest unit, where a decoder can begin with it.
  private var keyUnit: [UInt8]?

  mutating func follow(_ unit: UnsafeRawBufferPointer) {
    let units = AV1OBUs(unit)
    keyUnit = units.startsCodedSequence ? Array(unit) : nil
    do {
      let headers = try headers(units)
      // Of spatial layers in one unit a decoder shows the last one only.
      let last = headers.lastIndex(where: \.isShown)
      for (index, header) in headers.enumerated() { try apply(header, isShown: index == last) }
    } catch {
      slots.forgetAll()
    }
  }

  private mutating func headers(_ units: AV1OBUs) throws(UnreadableStream) -> [AV1FrameHeader] {
    var headers: [AV1FrameHeader] = []
    for unit in units {
      switch unit.kind {
      case .sequenceHeader: sequence = try AV1SequenceHeader(unit.payload)
      case .frame, .frameHeader:
        guard let sequence else { throw UnreadableStream() }
        headers.append(try AV1FrameHeader(unit.payload, sequence))
      default: break
      }
    }
    return headers
  }

  private mutating func apply(_ header: AV1FrameHeader, isShown: Bool) throws(UnreadableStream) {
    switch header {
    case .existing(let slot):
      // A hidden keyframe that is shown replaces all that there is.
      guard keySlots >> slot & 1 == 0 else { throw UnreadableStream() }
      slots.show(slot)
    case .coded(let refreshed, _, let isKey, let id):
      slots.store(refreshed, isShown: isShown)
      for slot in ids.indices where refreshed >> slot & 1 == 1 { ids[slot] = id }
      keySlots = isKey ? keySlots | refreshed : keySlots & ~refreshed
    }
  }

  /// A header with `show_existing_frame`, or a keyframe that came last once more: a decoder is behind it as it was before.
  func repeatFrame() -> RepeatFrame? {
    if let keyUnit { return RepeatFrame(bytes: keyUnit, isLastShown: true) }
    guard let sequence, let (slot, isLastShown) = slots.newestShown, keySlots >> slot & 1 == 0 else { return nil }
    var header = BitWriter()
    header.bit(true)
    header.bits(slot, 3)
    header.bits(ids[slot], sequence.idBits)
    // trailing_one_bit
    header.bit(true)
    let bytes = header.bytes
    return RepeatFrame(bytes: [Self.headerUnit, UInt8(bytes.count)] + bytes, isLastShown: isLastShown)
  }

  private static let headerUnit = AV1OBU.Kind.frameHeader.rawValue << 3 | AV1OBU.hasSize

  func blackKeyframe() -> [UInt8]? { nil }
}

extension AV1FrameHeader {
  fileprivate var isShown: Bool {
    switch self {
    case .existing: true
    case .coded(_, let isShown, _, _): isShown
    }
  }
}
