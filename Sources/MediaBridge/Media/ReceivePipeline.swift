import GStreamerKit
import MediaCore
import MediaPipelines
import RTP
import Synchronization

/// The receive template of one track at work on its packets, for all who want what comes out of it.
///
/// Each of its outputs is made for the first consumer and goes with the last: so one that stores frames as they were
/// sent pays for no decoder.
final class ReceivePipeline: Sendable {
  /// The agreed names of a template's sinks.
  enum Output: String, CaseIterable, Sendable {
    case frames
    case pcm
    case encoded
  }

  /// What an output hangs on the tee.
  private final class Branch: Sendable {
    let tee: TeeBranch
    /// Whether it is the one that its output has now: the next one begins before it has gone.
    let isCurrent = Atomic(true)

    init(_ tee: TeeBranch) { self.tee = tee }
  }

  let pipeline: Pipeline
  private let made: TemplatePipeline
  private let source: PacketInput
  private let jitter: Element?
  /// By the tee's name, for the template may have several.
  private let tees: [String: ReceiveTee]
  private let hubs: [Output: MediaHub]
  /// Held while a branch is made or ended, never on a media thread.
  private let branches = Locked<[Output: Branch]>([:])
  private let onKeyframeNeeded: @Sendable () -> Void
  private let failed = Locked<LiveKitError?>(nil)
  private let hasBegun = Atomic(false)

  /// - Parameters:
  ///   - payloadType: of the packets; the jitter buffer wants to know.
  ///   - orientationID: the header element of packets that says how frames are to be turned.
  ///   - clock: from RTP timestamps to our time; called on a streaming thread.
  ///   - onKeyframeNeeded: called on any thread.
  init(
    factory: PipelineFactory, template: String, isVideo: Bool, payloadType: PayloadType, latency: Int?,
    orientationID: UInt8? = nil, clock: @escaping @Sendable (UInt32) -> MediaTime?,
    onKeyframeNeeded: @escaping @Sendable () -> Void
  ) throws(LiveKitError) {
    self.onKeyframeNeeded = onKeyframeNeeded
    tellsTurns = orientationID != nil
    made = try factory.makeReceiver(template, values: latency.map { ["latency": String($0)] } ?? [:])
    pipeline = made.pipeline
    let dependence: KeptGroup<MediaBuffer>.Dependence = isVideo ? .sinceKeyframe : .none
    hubs = Dictionary(
      uniqueKeysWithValues: Output.allCases.map { output in
        (output, MediaHub(output == .encoded ? dependence : nil, onKeyframeNeeded: onKeyframeNeeded))
      })
    source = try made.packetInput("rtp", onKeyframeRequest: onKeyframeNeeded)
    // Nil as well where it was taken out.
    jitter = try? pipeline.element(named: "jitter")
    longestWait = source.sequencing?.latency ?? jitter?.int("latency").map { .milliseconds($0) }
    tees = try made.tees(dependence)
    try deliverWhatHasNoBranch()
    // A template without an element of that name keeps GStreamer's own times, and frames as they come.
    if jitter != nil { try? pipeline.retimestamp(elementNamed: "jitter", clock) }
    if let orientationID { tagOrientation(orientationID) }
    made.onFailure { [weak self] in self?.fail(LiveKitError($0), at: $1) }
    try LiveKitError.wrapping(made.start)
    source.begin(
      source.acceptedCaps.map { $0.int("payload") == nil ? Caps("\($0), payload=(int)\(payloadType)") ?? $0 : $0 })
  }

  private func tagOrientation(_ id: UInt8) {
    let quarterTurns: @Sendable (UnsafeRawBufferPointer) -> Int? = { RTPPacket.quarterTurns(in: $0, id) }
    if source.sequencing != nil {
      pipeline.tagOrientation(of: source, quarterTurns)
    } else if jitter != nil {
      try? pipeline.tagOrientation(elementNamed: "jitter", quarterTurns)
    }
  }

  /// Why nothing comes out of it any more; nil while something may.
  var failure: LiveKitError? { failed.withLock { $0 } }

  /// Packets of one frame come together: one by one they would wake the pipeline's threads for each, which costs more
  /// than what they do with it.
  func push(_ packets: [AppSource.Packet]) {
    hasBegun.store(true, ordering: .relaxed)
    source.push(packets)
  }

  /// Runs `job` when the outputs that were asked for are there.
  func whenSettled(_ job: @escaping @Sendable () -> Void) {
    guard let tee = tees.values.first else { return job() }
    tee.whenSettled(job)
  }

  /// Whether frames may come turned, which is told ahead of a push.
  let tellsTurns: Bool

  /// Whether packets are to be pushed in their order, with the times at which they are shown.
  var takesSequence: Bool { source.sequencing != nil }

  /// Tells that a packet does not come, between those ahead of it and those behind.
  func skip(_ number: SequenceNumber, at time: MediaTime, duration: Duration) {
    source.skip(number.rawValue, at: time, duration: duration)
  }

  /// How long the template lets a lost packet be waited for; nil where nothing waits.
  let longestWait: Duration?

  /// Waits for a lost packet for so long from now on.
  func wait(for time: Duration) { try? jitter?.set("latency", to: Int(time.nanoseconds / 1_000_000)) }

  // MARK: Outputs

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

  /// - Returns: nil for an output that always runs.
  private func start(_ output: Output) throws(LiveKitError) -> Branch? {
    guard let hub = hubs[output],
      let branch = try made.branch(to: output.rawValue, inlet(of: output, hub)).map(Branch.init)
    else {
      guard pipeline.hasElement(output.rawValue) else { throw made.lacks(output.rawValue) }
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
    for (output, hub) in hubs where pipeline.hasElement(output.rawValue) {
      do { try made.sink(output.rawValue) { hub.deliver($0) } } catch { throw LiveKitError(error) }
    }
  }

  /// Whether somebody gets what comes out there.
  func isConsumed(_ output: Output) -> Bool { hubs[output]?.isEmpty == false }

  // MARK: The end

  /// An error in one output's branch ends that output, which the next consumer has made anew; any other one ends all.
  private func fail(_ error: LiveKitError, at element: String?) {
    let broken = branches.withLock { branches in
      let broken = branches.first { $0.value.tee.element(named: element ?? "") != nil }
      if let broken { _ = Self.take(broken.key, from: &branches) }
      return broken
    }
    if let broken {
      tee(of: broken.key)?.remove(broken.value.tee)
      hubs[broken.key]?.fail(error)
    } else {
      failed.withLock { $0 = $0 ?? error }
      for hub in hubs.values { hub.fail(error) }
    }
  }

  /// No buffer comes after it returned.
  func stop() async {
    guard await pipeline.stop() else { return }
    for tee in tees.values { await tee.settle() }
  }
}
