import MediaBridge
import MediaCore

/// Has a file's next part begin when one is long or large enough.
final class PartRotation: Sendable {
  /// How far the part is that is written.
  struct Part: Sendable {
    var begin: Duration
    /// How far the job is.
    var now: Duration
    var bytes: Int64
    /// Whether the next one is open, and waits for its keyframe.
    var hasNext: Bool
  }

  private struct State {
    /// When the next part is to begin.
    var due: Duration?
    /// When its keyframe was asked for last.
    var asked: MediaTime?
    var failure: LiveKitError?
    /// Nil where any size will do.
    var forecast: SizeForecast?
  }

  private static let pace = Duration.milliseconds(200)
  private static let patience = Duration.seconds(1)
  private let limit: PartLimit
  private let watch = Watch()
  private let state: Locked<State>

  init(_ limit: PartLimit) {
    self.limit = limit
    state = Locked(State(forecast: limit.bytes.map { SizeForecast(limit: $0) }))
  }

  /// Why the next part is not open though it was to have begun: all goes on in the part before.
  var failure: LiveKitError? { state.withLock { $0.failure } }

  /// Looks after the parts until `stop()`.
  /// - Parameters:
  ///   - part: nil while nothing is written.
  ///   - open: opens the next part, which is not to begin before that time.
  ///   - ask: for the keyframe that it begins with; returns false where it is too early for that.
  func start(
    part: @escaping @Sendable () -> Part?, open: @escaping @Sendable (Duration) throws(LiveKitError) -> Void,
    ask: @escaping @Sendable () -> Bool
  ) {
    watch.start { [weak self] in self?.look(part(), open, ask) }
  }

  func stop() async { await watch.stop() }

  /// - Returns: when to look again.
  private func look(_ part: Part?, _ open: (Duration) throws(LiveKitError) -> Void, _ ask: () -> Bool) -> Duration {
    guard let part else { return Self.pace }
    if !part.hasNext { openNext(after: part, open) }
    guard let due = state.withLock({ $0.due }) else { return failure == nil ? Self.pace : Self.patience }
    guard part.now >= due else { return min(due - part.now, Self.pace) }
    if mayAsk, ask() { state.withLock { $0.asked = .now } }
    return Self.pace
  }

  private func openNext(after part: Part, _ open: (Duration) throws(LiveKitError) -> Void) {
    let isFull = state.withLock { $0.forecast?.isReached(after: part.now - part.begin, written: part.bytes) ?? false }
    let due = limit.due(begin: part.begin, now: part.now, isFull: isFull)
    var failure: LiveKitError?
    if let due { do throws(LiveKitError) { try open(due) } catch { failure = error } }
    state.withLock { state in
      (state.due, state.asked) = (failure == nil ? due : nil, nil)
      if due != nil { state.failure = failure }
    }
  }

  private var mayAsk: Bool { state.withLock { $0.asked.map { MediaTime.now >= $0 + Self.patience } ?? true } }
}
