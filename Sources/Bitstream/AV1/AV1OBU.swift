/// One open bitstream unit, of which temporal units are made (AV1 bitstream specification, 5.3).
public struct AV1OBU {
  /// What it carries (6.2.2).
  public struct Kind: RawRepresentable, Hashable, Sendable {
    /// `obu_type`, 0 to 15.
    public let rawValue: UInt8

    /// A type by its number in the specification.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// How what follows is coded; ahead of a keyframe.
    public static let sequenceHeader = Self(rawValue: 1)
    /// Where a temporal unit begins.
    public static let temporalDelimiter = Self(rawValue: 2)
    /// The header of a frame, whose tiles follow.
    public static let frameHeader = Self(rawValue: 3)
    /// A header with the tiles.
    public static let frame = Self(rawValue: 6)
    /// Of large scale tile coding.
    public static let tileList = Self(rawValue: 8)
    /// Nothing.
    public static let padding = Self(rawValue: 15)
  }

  /// The first byte, with the bit that says that a size follows taken out.
  public let header: UInt8
  /// `temporal_id` and `spatial_id` as the second byte has them; nil where there is none.
  public let layer: UInt8?
  /// What follows header and size.
  public let payload: UnsafeRawBufferPointer

  /// What it carries.
  public var kind: Kind { Kind(rawValue: header >> 3 & 15) }
  /// Bytes of the header without a size.
  public var headerLength: Int { layer == nil ? 1 : 2 }
  /// Bytes without a size.
  public var length: Int { headerLength + payload.count }

  /// The unit that `bytes` begin with; without a size it takes all of them.
  /// - Parameter end: gets the place behind it.
  /// - Returns: nil where it is cut off, or no unit.
  public init?(_ bytes: UnsafeRawBufferPointer, end: inout Int) {
    guard let first = bytes.first, first & 0x80 == 0 else { return nil }
    var start = 1
    if first & 4 != 0 {
      guard bytes.count > 1 else { return nil }
      (layer, start) = (bytes[1], 2)
    } else {
      layer = nil
    }
    end = bytes.count
    if first & Self.hasSize != 0 {
      guard let size = LEB128.read(bytes, at: start), size.value <= bytes.count - start - size.length else {
        return nil
      }
      start += size.length
      end = start + size.value
    }
    header = first & ~Self.hasSize
    payload = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
  }

  /// The bit of the first byte that says that a size follows the header.
  public static let hasSize: UInt8 = 2
}

/// The units of a temporal unit in the low-overhead format, up to where it cannot be read.
public struct AV1OBUs: Sequence, IteratorProtocol {
  private var rest: UnsafeRawBufferPointer

  /// - Parameter unit: stays readable while the units are in use.
  public init(_ unit: UnsafeRawBufferPointer) { rest = unit }

  /// The next unit; nil at the end.
  public mutating func next() -> AV1OBU? {
    var end = 0
    guard let obu = AV1OBU(rest, end: &end) else { return nil }
    rest = UnsafeRawBufferPointer(rebasing: rest[end...])
    return obu
  }

  /// The record that MP4 and Matroska have of such a stream (AV1 in ISOBMFF, 2.3), with the sequence header in it; nil
  /// without one, and for other profiles than Main.
  public var configurationRecord: [UInt8]? {
    guard let unit = first(where: { $0.kind == .sequenceHeader }), let header = try? AV1SequenceHeader(unit.payload),
      header.profile == 0, !header.isReducedStill, unit.layer == nil, unit.payload.count < 0x80
    else { return nil }
    // Marker and version; chroma of half the size in both directions, at a place that is not said.
    let colors: UInt8 = (header.isHighBitDepth ? 0x40 : 0) | (header.isMonochrome ? 0x10 : 0) | 0x0c
    let record = [0x81, UInt8(header.level), (header.isHighTier ? 0x80 : 0) | colors, 0]
    return record + [unit.header | AV1OBU.hasSize, UInt8(unit.payload.count)] + unit.payload
  }

  /// Whether a decoder can begin here: with a sequence header and a keyframe that is shown (7.5 and 5.9.2).
  public var startsCodedSequence: Bool {
    var isStill: Bool?
    for obu in self {
      switch obu.kind {
      // Behind three bits of profile: still_picture and reduced_still_picture_header.
      case .sequenceHeader: isStill = obu.payload.first.map { $0 & 0x18 == 0x18 }
      case .frame, .frameHeader:
        guard let isStill, let first = obu.payload.first else { return false }
        // show_existing_frame 0, frame_type KEY_FRAME, show_frame 1; the header of a still picture has none of these.
        return isStill || first & 0xf0 == 0x10
      default: break
      }
    }
    return false
  }
}
