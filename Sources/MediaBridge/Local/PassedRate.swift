import MediaCore

/// How many bits a second a source carries, of late. Pure.
struct PassedRate: Sendable {
  /// A keyframe and what follows up to the next one.
  private static let window = Duration.seconds(4)
  /// Before there is enough to measure.
  private static let least = 30_000

  private var frames: [(time: MediaTime, bytes: Int)] = []
  private var bytes = 0

  mutating func note(bytes new: Int, at time: MediaTime) {
    frames.append((time, new))
    bytes += new
    let old = frames.prefix { time - $0.time > Self.window || $0.time > time }
    bytes -= old.reduce(0) { $0 + $1.bytes }
    frames.removeFirst(old.count)
  }

  /// Of payload.
  var bitrate: Int {
    guard let first = frames.first, let last = frames.last, last.time - first.time >= .seconds(1) else {
      return Self.least
    }
    return max(Self.least, Int(Double(bytes) * 8 / (last.time - first.time).seconds))
  }
}
