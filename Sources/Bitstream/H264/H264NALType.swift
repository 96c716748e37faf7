/// What a NAL unit of H.264 holds (ITU-T H.264, table 7-1).
public struct H264NALType: RawRepresentable, Hashable, Sendable {
  /// `nal_unit_type`, 0 to 31.
  public let rawValue: UInt8

  /// A type by its number in the standard.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The type in the first byte of a unit, or in the second one of a fragment of one (RFC 6184, 5.8).
  public init(firstByte: UInt8) { rawValue = firstByte & 31 }

  /// A slice of a frame that is no IDR picture.
  public static let slice = Self(rawValue: 1)
  /// A slice of an IDR picture, with which a decoder can start.
  public static let idrSlice = Self(rawValue: 5)
  /// A sequence parameter set.
  public static let sequenceParameters = Self(rawValue: 7)
  /// A picture parameter set.
  public static let pictureParameters = Self(rawValue: 8)
  /// An access unit delimiter.
  public static let delimiter = Self(rawValue: 9)

  static let partitions: Set<Self> = [Self(rawValue: 2), Self(rawValue: 3), Self(rawValue: 4)]

  /// Whether a keyframe begins with such a unit: with its parameters where they are repeated, or else with its slice.
  public var startsKeyframe: Bool { self == .idrSlice || self == .sequenceParameters }
}
