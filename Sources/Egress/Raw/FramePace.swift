/// Frames at an even rate: which places of time a frame fills. Pure.
package struct FramePace: Sendable {
  /// Frames a second.
  package let rate: Int
  /// The first place that nothing fills yet.
  package private(set) var next = 0
  /// The place that the newest frame has by its time, whatever fills it.
  private var newest = -1
  /// A frame that comes earlier than its place by less is jitter of its sender.
  private static let tolerance = Duration.milliseconds(10)

  package init(rate: Int) { self.rate = rate }

  /// - Parameter time: of the frame, since the first one.
  /// - Returns: the places that the frame before fills, too, and the one of this frame; nil where that is filled, by an
  ///   older one again where this one is late.
  package mutating func take(_ time: Duration) -> (repeats: Range<Int>, place: Int?, isLate: Bool) {
    let place = place(at: time)
    defer { newest = max(newest, place) }
    guard place >= next else { return (next..<next, nil, place > newest) }
    defer { next = place + 1 }
    return (next..<place, place, false)
  }

  /// - Returns: the places until then, which the newest frame fills since no other has come.
  package mutating func fill(upTo time: Duration) -> Range<Int> {
    let end = max(place(at: time), next)
    defer { next = end }
    return next..<end
  }

  /// When a place is.
  package func time(of place: Int) -> Duration {
    .seconds(place / rate) + .nanoseconds(place % rate * 1_000_000_000 / rate)
  }

  private func place(at time: Duration) -> Int {
    let early = time + min(Self.tolerance, .nanoseconds(500_000_000 / rate))
    let (seconds, attoseconds) = early.components
    return Int(seconds) * rate + Int(attoseconds / 1_000_000_000) * rate / 1_000_000_000
  }
}
