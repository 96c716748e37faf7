/// What of one input was dropped because the queue in front of its pipeline was full, in the job's time. Pure.
///
/// Silence that stands in for minutes comes at once, as after the process stood still, and may fill a queue by itself:
/// what is sent and dropped behind it counts only where that goes on.
struct QueueLoss: Sendable {
  /// What was dropped without a break.
  private struct Run: Sendable {
    let beganWithStandIn: Bool
    /// When the first was dropped of what was sent; nil while only what stands in was.
    var since: Duration?
    /// Of what was sent.
    var length = Duration.zero

    var counts: Bool { since != nil && (!beganWithStandIn || length >= QueueLoss.patience) }
  }

  private static let patience = Duration.seconds(1)
  private var run: Run?
  private var first: Duration?
  private var past = Duration.zero
  /// When the newest came.
  private var newest: Duration?
  /// When there was room again behind what was dropped last.
  private var reopened: Duration?

  /// When something was dropped first; nil where nothing was.
  var since: Duration? { first ?? counted?.since }
  /// How long all that was dropped lasts.
  var length: Duration { past + (counted?.length ?? .zero) }
  /// Whether the newest was dropped.
  var goesOn: Bool { counted != nil }

  /// Whether the newest was dropped, or something within so long before it.
  func goesOn(within calm: Duration) -> Bool {
    guard let reopened, let newest else { return goesOn }
    return goesOn || newest - reopened < calm
  }

  private var counted: Run? { run.flatMap { $0.counts ? $0 : nil } }

  /// - Parameters:
  ///   - length: nil where it does not say, as frames do not.
  ///   - isStandIn: whether nobody sent it.
  mutating func drop(lasting length: Duration?, at time: Duration, isStandIn: Bool) {
    defer { newest = time }
    var run = self.run ?? Run(beganWithStandIn: isStandIn)
    if !isStandIn {
      run.since = run.since ?? time
      run.length += length ?? newest.map { max(time - $0, .zero) } ?? .zero
    }
    self.run = run
  }

  /// There is room again.
  mutating func pass(at time: Duration) {
    newest = time
    guard run != nil else { return }
    if let counted {
      reopened = time
      first = first ?? counted.since
      past += counted.length
    }
    run = nil
  }
}
