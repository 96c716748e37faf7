import Dispatch

/// A serial queue for what must not block a media thread, with a way to wait until it is empty.
final class MediaQueue: Sendable {
  private let queue = DispatchQueue(label: "mediabridge.media", qos: .userInitiated)

  func run(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }

  /// Returns when everything that was put in before has run.
  func drain() async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }
}
