import MediaBridge
import MediaCore

/// Tiles and voices that were taken out of a mix and did not stop at once. One that hangs is left behind, and told.
/// Pure, but for what it asks them.
struct StoppingInputs: Sendable {
  /// As long as a pipeline is waited for.
  static let patience = Duration.seconds(5)

  private struct Input {
    let kind: Track.Kind
    let since: MediaTime
    let hasStopped: @Sendable () -> Bool
  }
  private var all: [Input] = []

  mutating func add(_ kind: Track.Kind, since now: MediaTime, _ hasStopped: @escaping @Sendable () -> Bool) {
    all.append(Input(kind: kind, since: now, hasStopped: hasStopped))
  }

  /// - Returns: of which kinds there are some that hang; they are asked no more.
  mutating func takeHanging(at now: MediaTime) -> Set<Track.Kind> {
    all.removeAll { $0.hasStopped() }
    defer { all.removeAll { now - $0.since >= Self.patience } }
    return Set(all.filter { now - $0.since >= Self.patience }.map(\.kind))
  }

  /// Whether there are none any more that are waited for.
  var isEmpty: Bool { all.isEmpty }
}
