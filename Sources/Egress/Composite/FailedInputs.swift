import MediaBridge
import MediaCore

/// Which tracks are out of a composite since what they are mixed by has failed with them, and when they are tried again: in
/// another format, published anew, and after a while, which doubles. Pure.
struct FailedInputs: Sendable {
  /// What a track is like, as far as it is known of one that nobody decodes.
  struct Format: Equatable, Sendable {
    var track: ObjectIdentifier?
    var codec: String?
    var size: Dimensions?
  }

  private struct Failure {
    var format: Format
    var time: MediaTime
    var count: Int
  }

  private static let firstPause = Duration.seconds(2)
  private static let longestPause = Duration.seconds(60)
  /// Also for another format: somebody may send ten sizes a second.
  private static let leastPause = Duration.milliseconds(500)

  private var failures: [String: Failure] = [:]

  mutating func note(_ sid: String, _ format: Format, at now: MediaTime) {
    let before = failures[sid].map { $0.format == format ? $0.count : 0 } ?? 0
    failures[sid] = Failure(format: format, time: now, count: before + 1)
  }

  /// Whether it is to be left alone.
  func isOut(_ sid: String, _ format: Format, at now: MediaTime) -> Bool {
    guard let failure = failures[sid] else { return false }
    let age = now - failure.time
    if failure.format != format { return age < Self.leastPause }
    return age < min(Self.firstPause * (1 << min(failure.count - 1, 5)), Self.longestPause)
  }

  /// All are tried again.
  mutating func clear() { failures = [:] }
}
