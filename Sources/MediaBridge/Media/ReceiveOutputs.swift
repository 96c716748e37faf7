import GStreamerKit
import MediaCore
import MediaPipelines
import Synchronization

/// What comes out of a receive template, and who gets it. Each output is made for the first consumer and goes with the
/// last.
final class ReceiveOutputs: Sendable {
  typealias Output = ReceivePipeline.Output

  /// What an output hangs on the tee.
  private final class Branch: Sendable {
    let tee: TeeBranch
    /// Whether it is the one that its output has now: the next one begins before it has gone.
    let isCurrent = Atomic(true)

    init(_ tee: TeeBranch) { self.tee = tee }
  }

  private let made: TemplatePipeline
  /// By the tee's name, for the template may have several.
  private let tees: [String: ReceiveTee]
  private let hubs: [Output: MediaHub]
  /// Held while a branch is made or ended, never on a media thread.
  private let branches = Locked<[Output: Branch]>([:])
  private let onKeyframeNeeded: @Sendable () -> Void
  private let hasBegun = Atomic(false)

  /// - Parameter onKeyframeNeeded: called on any thread.
  init(
    of made: TemplatePipeline, isVideo: Bool, onKeyframeNeeded: @escaping @Sendable () -> Void
  ) throws(LiveKitError) {
    (self.made, self.onKeyframeNeeded) = (made, onKeyframeNeeded)
    let dependence: KeptGroup<MediaBuffer>.Dependence = isVideo ? .sinceKeyframe : .none
    hubs = Dictionary(
      uniqueKeysWithValues: Output.allCases.map { output in
        (output, MediaHub(output == .encoded ? dependence : nil, onKeyframeNeeded: onKeyframeNeeded))
      })
    tees = try made.tees(dependence)
    try deliverWhatHasNoBranch()
  }

  /// Packets come from now on: who begins later may miss something.
  func noteBeginning() { hasBegun.store(true, ordering: .relaxed) }

  /// Runs `job` when the outputs that were asked for are there.
  func whenSettled(_ job: @escaping @Sendable () -> Void) {
    guard let tee = tees.values.first else { return job() }
    tee.whenSettled(job)
  }

  // MARK: Consumers

  /// Adds a consumer, and makes what it needs.
  /// - Throws: what the template lacks for it.
  func add(_ consumer: MediaConsumer, to output: Output) throws(LiveKitError) {
    guard let hub = hubs[output] else { return }
    hub.add(consumer)
    do {
      try branches.withLock { branches throws(LiveKitError) in
        if branches[output] == nil, !hub.isEmpty { branches[output] = try start(output) }
      }
    } catch {
      hub.remove(consumer)
      throw error
    }
    consumer.onStop { [weak self] in self?.remove(consumer, from: output) }
  }

  private func remove(_ consumer: MediaConsumer, from output: Output) {
    guard let hub = hubs[output] else { return }
    hub.remove(consumer)
    let idle = branches.withLock { hub.isEmpty ? Self.take(output, from: &$0) : nil }
    if let idle { tee(of: output)?.remove(idle.tee) }
  }

  private static func take(_ output: Output, from branches: inout [Output: Branch]) -> Branch? {
    let branch = branches.removeValue(forKey: output)
    branch?.isCurrent.store(false, ordering: .relaxed)
    return branch
  }

  /// Whether somebody gets what comes out there.
  func isConsumed(_ output: Output) -> Bool { hubs[output]?.isEmpty == false }

  // MARK: Branches

  /// - Returns: nil for an output that always runs.
  private func start(_ output: Output) throws(LiveKitError) -> Branch? {
    guard let hub = hubs[output],
      let branch = try made.branch(to: output.rawValue, inlet(of: output, hub)).map(Branch.init)
    else {
      guard made.pipeline.hasElement(output.rawValue) else { throw made.lacks(output.rawValue) }
      return nil
    }
    try made.sink(output.rawValue, of: branch.tee) { [weak branch] in
      if branch?.isCurrent.load(ordering: .relaxed) == true { hub.deliver($0) }
    }
    // Before the first packet there is nothing that could have been missed.
    tee(of: output)?.start(branch.tee) { [weak self] in
      if let self, hasBegun.load(ordering: .relaxed) { onKeyframeNeeded() }
    }
    return branch
  }

  /// What comes as it was sent costs its branch nothing. All else is work for a thread of its own, for this may be the
  /// network's; but for Opus, which costs less than waking one.
  private func inlet(of output: Output, _ hub: MediaHub) -> BranchInlet? {
    guard output != .encoded else { return nil }
    let load = BranchLoad(
      isVideo: output == .frames, onDrop: { hub.noteDrop() }, onKeyframeNeeded: onKeyframeNeeded)
    return { load.admits(isDelta: $0, queued: $1) }
  }

  private func tee(of output: Output) -> ReceiveTee? {
    made.template.branch(endingIn: output.rawValue).flatMap { tees[$0.tee] }
  }

  /// A template of somebody's own may decode all the time.
  private func deliverWhatHasNoBranch() throws(LiveKitError) {
    for (output, hub) in hubs where made.pipeline.hasElement(output.rawValue) {
      do { try made.sink(output.rawValue) { hub.deliver($0) } } catch { throw LiveKitError(error) }
    }
  }

  // MARK: The end

  /// Ends the output in whose branch the element is; the next consumer has it made anew.
  /// - Returns: false where it is in none.
  func failBranch(_ error: LiveKitError, at element: String?) -> Bool {
    let broken = branches.withLock { branches in
      let broken = branches.first { $0.value.tee.element(named: element ?? "") != nil }
      if let broken { _ = Self.take(broken.key, from: &branches) }
      return broken
    }
    guard let broken else { return false }
    tee(of: broken.key)?.remove(broken.value.tee)
    hubs[broken.key]?.fail(error)
    return true
  }

  /// Nothing comes out any more.
  func fail(_ error: LiveKitError) { for hub in hubs.values { hub.fail(error) } }

  /// No branch is on its way out any more when this returns.
  func settle() async { for tee in tees.values { await tee.settle() } }
}
