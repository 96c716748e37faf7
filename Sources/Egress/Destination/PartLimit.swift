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
  /// Size of the file; nil for no limit. The next part begins a moment before it would be reached.
  public var bytes: Int64?

  /// - Parameters:
  ///   - duration: at least `shortest`.
  ///   - bytes: at least `smallest`.
  public init(duration: Duration? = nil, bytes: Int64? = nil) { (self.duration, self.bytes) = (duration, bytes) }

  /// How long ahead of its beginning the next part is opened.
  static let lead = Duration.seconds(1)

  /// The same for a file that cannot be larger than so many bytes; nil for no limit.
  static func limit(_ asked: PartLimit?, atMost bytes: Int64?) -> PartLimit? {
    guard let bytes else { return asked }
    return PartLimit(duration: asked?.duration, bytes: min(asked?.bytes ?? bytes, bytes))
  }

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

  /// When the next part is to begin, once that is near; times are those of the job.
  /// - Parameters:
  ///   - begin: of the part that is written.
  ///   - now: how far the job is.
  ///   - isFull: whether with a moment more it would be too large.
  func due(begin: Duration, now: Duration, isFull: Bool) -> Duration? {
    if isFull { return now }
    guard let duration, now >= begin + duration - Self.lead else { return nil }
    return begin + duration
  }
}
