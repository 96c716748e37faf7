import GStreamerKit
import MediaCore
import MediaPipelines
import Synchronization

/// What comes out of a receive template. Each output is made when somebody wants it, and goes when nobody does.
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
  private let destinations: [Output: TrackOutput]
  /// The pipeline's number there.
  private let turn: Int
  /// Held while a branch is made or ended, never on a media thread.
  private let branches = Locked<[Output: Branch]>([:])
  private let onKeyframeNeeded: @Sendable () -> Void
  private let hasBegun = Atomic(false)

  /// - Parameters:
  ///   - destinations: where it goes.
  ///   - turn: the pipeline's number there.
  ///   - onKeyframeNeeded: called on any thread.
  init(
    of made: TemplatePipeline, isVideo: Bool, to destinations: [Output: TrackOutput], turn: Int,
    onKeyframeNeeded: @escaping @Sendable () -> Void
  ) throws(LiveKitError) {
    (self.made, self.onKeyframeNeeded) = (made, onKeyframeNeeded)
    (self.destinations, self.turn) = (destinations, turn)
    tees = try made.tees(isVideo ? .sinceKeyframe : .none)
    try deliverWhatHasNoBranch()
  }

  /// Packets come from now on: who begins later may miss something.
  func noteBeginning() { hasBegun.store(true, ordering: .relaxed) }

  /// Whether packets have come.
  var isAtWork: Bool { hasBegun.load(ordering: .relaxed) }

  /// Runs `job` when the outputs that were asked for are there.
  func whenSettled(_ job: @escaping @Sendable () -> Void) {
    guard let tee = tees.values.first else { return job() }
    tee.whenSettled(job)
  }

  // MARK: Branches

  /// Makes what is wanted of an output, unless it is there.
  /// - Throws: what the template lacks for it.
  func open(_ output: Output) throws(LiveKitError) {
    try branches.withLock { branches throws(LiveKitError) in
      if branches[output] == nil, destinations[output]?.isEmpty == false { branches[output] = try start(output) }
    }
  }

  /// Whether what is wanted of an output is there; always where it has no branch.
  func isOpen(_ output: Output) -> Bool {
    branches.withLock { $0[output] != nil } || tee(of: output) == nil
  }

  /// Ends an output that nobody wants.
  func closeIfIdle(_ output: Output) {
    let idle = branches.withLock { destinations[output]?.isEmpty == true ? Self.take(output, from: &$0) : nil }
    if let idle { tee(of: output)?.remove(idle.tee) }
  }

  private static func take(_ output: Output, from branches: inout [Output: Branch]) -> Branch? {
    let branch = branches.removeValue(forKey: output)
    branch?.isCurrent.store(false, ordering: .relaxed)
    return branch
  }

  /// - Returns: nil for an output that always runs.
  private func start(_ output: Output) throws(LiveKitError) -> Branch? {
    let watch = output == .frames ? DecoderWatch(onKeyframeNeeded: onKeyframeNeeded) : nil
    guard let destination = destinations[output],
      let branch = try made.branch(to: output.rawValue, inlet(of: output, destination, watch)).map(Branch.init)
    else {
      guard made.pipeline.hasElement(output.rawValue) else { throw made.lacks(output.rawValue) }
      return nil
    }
    try made.sink(output.rawValue, of: branch.tee) { [weak branch, turn] in
      guard branch?.isCurrent.load(ordering: .relaxed) == true else { return }
      watch?.comesOut(isDiscontinuous: $0.isDiscontinuous)
      destination.deliver($0, of: turn)
    }
    branch.tee.onFailure { [weak self, weak branch] in
      if let self, let branch { fail(branch, of: output, $0) }
    }
    // Before the first packet there is nothing that could have been missed.
    tee(of: output)?.start(branch.tee) { [weak self] in
      if let self, isAtWork { onKeyframeNeeded() }
    }
    return branch
  }

  /// What comes as it was sent costs its branch nothing. All else is work for a thread of its own, for this may be the
  /// network's; but for Opus, which costs less than waking one.
  private func inlet(of output: Output, _ destination: TrackOutput, _ watch: DecoderWatch?) -> BranchInlet? {
    guard output != .encoded else { return nil }
    let load = BranchLoad(
      isVideo: output == .frames, onDrop: { [turn] in destination.noteDrop(of: turn) },
      onKeyframeNeeded: onKeyframeNeeded)
    return { isDelta, queued in
      guard load.admits(isDelta: isDelta, queued: queued) else { return false }
      watch?.goesIn(isDelta: isDelta)
      return true
    }
  }

  private func tee(of output: Output) -> ReceiveTee? {
    made.template.branch(endingIn: output.rawValue).flatMap { tees[$0.tee] }
  }

  /// A template of somebody's own may decode all the time.
  private func deliverWhatHasNoBranch() throws(LiveKitError) {
    for (output, destination) in destinations where made.pipeline.hasElement(output.rawValue) {
      do { try made.sink(output.rawValue) { [turn] in destination.deliver($0, of: turn) } } catch {
        throw LiveKitError(error)
      }
    }
  }

  // MARK: The end

  /// Ends an output whose branch has failed; the next consumer has it made anew. What else goes wrong in a branch that is
  /// on its way out concerns nobody: one failure may be several errors.
  private func fail(_ branch: Branch, of output: Output, _ error: PipelineError) {
    let isCurrent = branches.withLock { branches in
      guard branches[output] === branch else { return false }
      _ = Self.take(output, from: &branches)
      return true
    }
    guard isCurrent else { return }
    tee(of: output)?.remove(branch.tee)
    destinations[output]?.fail(LiveKitError(error, in: made.template), of: turn)
  }

  /// Nothing comes out any more. What decodes ends at once: the next one may need the device that it has.
  func fail(_ error: LiveKitError) {
    let decoders = branches.withLock { branches in
      let decoders = branches.filter { $0.key != .encoded }
      for output in decoders.keys { _ = Self.take(output, from: &branches) }
      return decoders
    }
    for (output, branch) in decoders { tee(of: output)?.remove(branch.tee) }
    for output in destinations.keys { fail(output, error) }
  }

  /// Nothing comes out of that one.
  func fail(_ output: Output, _ error: LiveKitError) { destinations[output]?.fail(error, of: turn) }

  /// No branch is on its way out any more when this returns.
  func settle() async { for tee in tees.values { await tee.settle() } }
}
