/// What a NAL unit of H.265 holds (ITU-T H.265, table 7-1).
public struct H265NALType: RawRepresentable, Hashable, Sendable {
  /// `nal_unit_type`, 0 to 63.
  public let rawValue: UInt8

  /// A type by its number in the standard.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The type in the first byte of a unit.
  public init(firstByte: UInt8) { rawValue = firstByte >> 1 & 63 }

  /// The type in the third byte of a fragment (RFC 7798, 4.4.3).
  public init(fragmentHeader: UInt8) { rawValue = fragmentHeader & 63 }

  /// Whether a keyframe begins with such a unit: with its parameters where they are repeated, or else with its slice.
  public var startsKeyframe: Bool { isKeyframeSlice || (32...34).contains(rawValue) }

  /// Whether it is a slice of a keyframe.
  public var isKeyframeSlice: Bool { (16...21).contains(rawValue) }

  /// Whether it is a video or a sequence parameter set.
  public var isParameterSet: Bool { rawValue == 32 || rawValue == 33 }
}
