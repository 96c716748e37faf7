/// Bits per second, reckoned and written.
enum Bitrate {
  /// - Parameters:
  ///   - bytes: that came in the time; a count that went back counts as none.
  ///   - seconds: over which.
  static func average(bytes: Int, seconds: Double) -> UInt64 {
    guard bytes > 0, seconds > 0 else { return 0 }
    return UInt64((Double(bytes) * 8 / seconds).rounded())
  }

  /// Whole `bps` and `kbps`, above that one decimal.
  static func text(_ bps: UInt64) -> String {
    let rounded = { (unit: UInt64) in bps / unit + (bps % unit >= unit / 2 ? 1 : 0) }
    switch bps {
    case ..<1000: return "\(bps) bps"
    case ..<999_500: return "\(rounded(1000)) kbps"
    case ..<999_950_000: return "\(tenths(rounded(100_000))) Mbps"
    default: return "\(tenths(rounded(100_000_000))) Gbps"
    }
  }

  private static func tenths(_ count: UInt64) -> String { "\(count / 10).\(count % 10)" }
}
