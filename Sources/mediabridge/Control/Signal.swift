import Dispatch
import Foundation

/// Signals that end nothing.
enum Signal {
  private static let queue = DispatchQueue(label: "mediabridge.control")

  /// Each time that it comes, from now on; several that nobody heeds yet count as one.
  static func arrivals(of number: Int32) -> AsyncStream<Void> {
    let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    signal(number, SIG_IGN)
    // Sound: a source may be cancelled on any thread, and nothing else is done with it once it runs.
    nonisolated(unsafe) let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
    source.setEventHandler { continuation.yield() }
    // Which keeps it alive until then.
    continuation.onTermination = { _ in source.cancel() }
    source.resume()
    return arrivals
  }
}
