/// A colour as frames of video have it: BT.601 in video range, which is how most cameras are sent.
public struct FrameColor: Hashable, Sendable {
  /// 16 for black to 235 for white.
  public var luma: UInt8
  /// 128 for gray.
  public var blue: UInt8
  /// 128 for gray.
  public var red: UInt8

  /// No light.
  public static let black = FrameColor(luma: 16, blue: 128, red: 128)

  private init(luma: UInt8, blue: UInt8, red: UInt8) { (self.luma, self.blue, self.red) = (luma, blue, red) }

  /// - Parameter rgb: `0xRRGGBB` (ITU-R BT.601-7, 2.5.1 and 2.5.3, in whole numbers).
  public init(rgb: UInt32) {
    let (r, g, b) = (Int(rgb >> 16 & 0xff), Int(rgb >> 8 & 0xff), Int(rgb & 0xff))
    // 16 or 128, and a half for rounding, times the denominator.
    luma = UInt8((65_738 * r + 129_057 * g + 25_064 * b + 4_224_000) / 256_000)
    blue = UInt8((-37_945 * r - 74_494 * g + 112_439 * b + 32_896_000) / 256_000)
    red = UInt8((112_439 * r - 94_154 * g - 18_285 * b + 32_896_000) / 256_000)
  }
}
