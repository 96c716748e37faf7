import CGStreamer
import CShims

/// How samples of luma and chroma stand for red, green and blue (ITU-R BT.601-7, 2.5, and BT.709-6, 3).
struct LumaChroma: Equatable {
  /// The weight of red in luma, and that of blue; green has the rest.
  var red: Double
  var blue: Double
  /// The sample of luma that is black.
  var black = 16.0
  /// How many samples of luma are between black and white, and how many of chroma between its ends.
  var lumaRange = 219.0
  var chromaRange = 224.0

  static let bt601 = LumaChroma(red: 0.299, blue: 0.114)
}

extension LumaChroma {
  /// Nil for what leaves that open, and for other kinds of colours.
  init?(_ colorimetry: GstVideoColorimetry) {
    (red, blue) = (0, 0)
    guard gst_video_color_matrix_get_Kr_Kb(colorimetry.matrix, &red, &blue) != 0 else { return nil }
    switch colorimetry.range {
    case GST_VIDEO_COLOR_RANGE_16_235: break
    case GST_VIDEO_COLOR_RANGE_0_255: (black, lumaRange, chromaRange) = (0, 255, 255)
    default: return nil
    }
  }

  /// What makes samples of these samples of `target`, to one or two of 255.
  /// - Returns: nil where they are the same, or so different that it takes more than 16 bits.
  func change(to target: LumaChroma) -> shim_color_change? {
    guard self != target else { return nil }
    // Luma from 0 to 1, chroma from -0.5 to 0.5: what U and V add to the other luma, by way of green and of themselves.
    let (fromU, fromV) = (2 * (1 - blue), 2 * (1 - red))
    let green = (1 - target.red - target.blue) / (1 - red - blue)
    let luma = (u: fromU * (target.blue - green * blue), v: fromV * (target.red - green * red))
    let (toU, toV) = (2 * (1 - target.blue), 2 * (1 - target.red))
    let (gain, chroma) = (target.lumaRange / lumaRange, target.chromaRange / chromaRange)
    let shares = [
      [gain - 1, luma.u * target.lumaRange / chromaRange, luma.v * target.lumaRange / chromaRange],
      [(fromU - luma.u) / toU * chroma - 1, -luma.v / toU * chroma],
      [-luma.u / toV * chroma, (fromV - luma.v) / toV * chroma - 1],
    ].map { $0.map { ($0 * 256).rounded() } }
    let offset = ((target.black - gain * black) * 256).rounded()
    let largest = abs(offset) + 255 * abs(shares[0][0]) + 128 * (abs(shares[0][1]) + abs(shares[0][2]) + 1)
    let largestOfChroma = shares[1...].map { 128 * (abs($0[0]) + abs($0[1]) + 1) }.max() ?? 0
    guard max(largest, largestOfChroma) < 32_768 else { return nil }
    let whole = shares.map { $0.map { Int16($0) } }
    return shim_color_change(
      luma: (whole[0][0], whole[0][1], whole[0][2]), luma_offset: Int16(offset), blue: (whole[1][0], whole[1][1]),
      red: (whole[2][0], whole[2][1]))
  }
}
