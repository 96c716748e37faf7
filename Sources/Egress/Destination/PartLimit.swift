import MediaBridge

/// How long or how large a file becomes before the recording goes on in the next one: `name-2.mp4`, `name-3.mp4` and so
/// on, each complete and playable by itself. Each begins at a keyframe, so it may last a moment longer.
public struct PartLimit: Sendable, Equatable {
  /// The least that can be asked for.
  public static let shortest = Duration.seconds(1)
  /// The least that can be asked for, in bytes.
  public static let smallest: Int64 = 100_000

  /// Media time; nil for no limit.
  public var duration: Duration?
  /// Size of the file; nil for no limit. The next part begins about a second of media before it would be reached.
  public var bytes: Int64?

  /// - Parameters:
  ///   - duration: at least `shortest`.
  ///   - bytes: at least `smallest`.
  public init(duration: Duration? = nil, bytes: Int64? = nil) { (self.duration, self.bytes) = (duration, bytes) }

  /// How long ahead of its beginning the next part is opened.
  static let lead = Duration.seconds(1)

  /// - Throws: it is less than can be.
  func check() throws(LiveKitError) {
    if let duration, duration < Self.shortest {
      throw LiveKitError(.invalidParameter, "parts of \(duration) are too short: give them at least \(Self.shortest)")
    }
    if let bytes, bytes < Self.smallest {
      throw LiveKitError(
        .invalidParameter, "parts of \(bytes) bytes are too small: give them at least \(Self.smallest / 1000) kB")
    }
  }

  /// Whether with about a second more there would be as many bytes.
  /// - Parameters:
  ///   - time: that is written.
  ///   - written: bytes so far.
  package func isReached(after time: Duration, written: Int64) -> Bool {
    guard let bytes, time > .zero else { return false }
    let aSecond = Double(written) / max(time.seconds, 1)
    return Double(written) + aSecond >= Double(bytes)
  }

  /// When the next part is to begin, once that is near; times are those of the job.
  /// - Parameters:
  ///   - begin: of the part that is written.
  ///   - now: how far the job is.
  ///   - written: bytes of the part so far.
  func due(begin: Duration, now: Duration, written: Int64) -> Duration? {
    if isReached(after: now - begin, written: written) { return now }
    guard let duration, now >= begin + duration - Self.lead else { return nil }
    return begin + duration
  }
}
