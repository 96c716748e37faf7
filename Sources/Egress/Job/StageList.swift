import MediaBridge
import MediaCore

/// The pipelines of a destination, of which an earlier one may still be at its end while the next one runs.
final class StageList: Sendable {
  private struct State {
    var stages: [OutputStage] = []
    /// Those that were taken out and may still write: their files are nobody else's.
    var hanging: [OutputStage] = []
    var endings: [Task<LiveKitError?, Never>] = []
    /// Those that are being completed, or were.
    var ended: Set<ObjectIdentifier> = []
    /// Why some of those are not complete.
    var lacks: [LiveKitError] = []
  }
  private let breakage: Breakage
  private let onEnd: @Sendable () -> Void
  private let state = Locked(State())

  /// - Parameter onEnd: called before a stage is completed, for what it is still to get.
  init(_ breakage: Breakage, onEnd: @escaping @Sendable () -> Void) { (self.breakage, self.onEnd) = (breakage, onEnd) }

  func add(_ stage: OutputStage) { state.withLock { $0.stages.append(stage) } }

  /// Those that nobody has ended yet.
  var open: [OutputStage] {
    let (stages, ended) = state.withLock { ($0.stages, $0.ended) }
    return stages.filter { !ended.contains(ObjectIdentifier($0)) }
  }

  /// Takes out a stage that nothing has come to.
  func discard(_ stage: OutputStage) {
    stage.segments?.abandon()
    state.withLock { state in
      state.stages.removeAll { $0 === stage }
      state.ended.remove(ObjectIdentifier(stage))
    }
    add { [weak self] _ in
      if await !stage.discard() { self?.state.withLock { $0.hanging.append(stage) } }
      return nil
    }
  }

  /// Ends a stage that another one has taken over from, which begins after that where it waits for it; from any thread.
  func end(_ stage: OutputStage, before next: OutputStage) {
    if next.isHeld { next.take() }
    end(stage)
    guard next.isHeld else { return }
    add { earlier in
      for ending in earlier { _ = await ending.value }
      next.begin()
      return nil
    }
  }

  /// - Parameter body: gets what is to be waited for by one who comes after it, and returns why something is not complete.
  private func add(_ body: @escaping @Sendable ([Task<LiveKitError?, Never>]) async -> LiveKitError?) {
    state.withLock { state in
      let earlier = state.endings
      state.endings.append(Task { await body(earlier) })
    }
  }

  /// Ends a stage, once; from any thread.
  func end(_ stage: OutputStage) {
    guard !stage.isAbandoned else { return discard(stage) }
    guard state.withLock({ $0.ended.insert(ObjectIdentifier(stage)).inserted }) else { return }
    add { [breakage, onEnd, weak self] earlier in
      // It has begun by then.
      if stage.isHeld { for ending in earlier { _ = await ending.value } }
      onEnd()
      do throws(LiveKitError) {
        try await stage.finish { breakage.error }
        return nil
      } catch {
        self?.state.withLock { $0.lacks.append(error) }
        return error
      }
    }
  }

  /// Why some that have ended are not complete, as far as that is known.
  var lacks: [LiveKitError] { state.withLock { $0.lacks } }

  /// Returns when all have ended.
  /// - Throws: the first reason why something is not complete.
  func finish() async throws(LiveKitError) {
    var reason: LiveKitError?
    for ending in state.withLock({ $0.endings }) {
      let error = await ending.value
      reason = reason ?? error
    }
    if let reason { throw reason }
  }

  /// Whether the first of them is not open yet.
  var isOpening: Bool { all.first?.isOpening == true }

  func dropped(at input: String) -> Int { all.reduce(0) { $0 + $1.dropped(at: input) } }
  var bytes: Int64 { all.reduce(0) { $0 + $1.bytes } }
  var segments: [String] { Self.joined(all.map(\.segmentFiles)) }
  var locations: [String] { all.map(\.destination.location) }
  var completedFiles: [String] { Self.joined(all.map(\.completedFiles)) }
  var newestCompletedFile: String? { all.reversed().lazy.compactMap(\.newestCompletedFile).first }
  var loss: LiveKitError? { all.lazy.compactMap(\.loss).first }

  /// Nil while one of them is written, and where one cannot be read.
  var storedLength: Duration? {
    let lengths = all.map(\.length)
    return lengths.isEmpty || lengths.contains(nil) ? nil : lengths.compactMap { $0 }.reduce(.zero, +)
  }

  /// Files of a week are many, and asked for each second: where one list has all of them, it is not copied.
  static func joined(_ lists: [[String]]) -> [String] {
    let filled = lists.filter { !$0.isEmpty }
    return filled.count == 1 ? filled[0] : filled.flatMap { $0 }
  }

  private var all: [OutputStage] { state.withLock { $0.stages } }
}
