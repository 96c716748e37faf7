/// Which of the frames that this machine was too slow for are missing where frames have an even rate: only those whose
/// places the frame before fills. Pure.
package struct PassedOverFrames: Sendable {
  /// How many there were when the newest frame came, and how many of them are missing.
  private var known = 0
  private var missing = 0
  /// Places that the newest frame has filled again.
  private var repeats = 0

  package init() {}

  /// The newest frame fills so many more places.
  package mutating func noteRepeats(_ count: Int) { repeats += count }

  /// Another frame has come.
  /// - Parameter total: how many were passed over before it.
  package mutating func noteFrame(after total: Int) {
    missing = missing(of: total)
    (known, repeats) = (max(known, total), 0)
  }

  /// - Parameter total: how many were passed over so far.
  package func missing(of total: Int) -> Int { missing + min(max(total - known, 0), repeats) }
}
