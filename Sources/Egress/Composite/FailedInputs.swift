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
    var pause: RetryPause
  }

  /// Also for another format: somebody may send ten sizes a second.
  private static let leastPause = Duration.milliseconds(500)

  private var failures: [String: Failure] = [:]

  mutating func note(_ sid: String, _ format: Format, at now: MediaTime) {
    var pause = failures[sid].flatMap { $0.format == format ? $0.pause : nil } ?? RetryPause()
    pause.next(at: now)
    failures[sid] = Failure(format: format, time: now, pause: pause)
  }

  /// Whether it is to be left alone.
  func isOut(_ sid: String, _ format: Format, at now: MediaTime) -> Bool {
    guard let failure = failures[sid] else { return false }
    return failure.format == format ? !failure.pause.isOver(at: now) : now - failure.time < Self.leastPause
  }

  /// All are tried again.
  mutating func clear() { failures = [:] }
}
