import GStreamerKit

/// How many threads encode a layer, the variable `threads` of its template: one costs least, and is too slow for large
/// frames. Pure.
enum EncoderThreads {
  /// - Parameter cores: on which the process may run; one is left to all else.
  static func count(for size: Dimensions, cores: Int) -> Int {
    let pixels = Int(size.width) * Int(size.height)
    let wanted = pixels <= 1280 * 720 ? 1 : pixels <= 1920 * 1080 ? 2 : 4
    return max(1, min(wanted, cores - 1))
  }
}
