import GStreamerKit
import Logging
import MediaCore
import MediaPipelines
import PeerTransport
import RTP

/// What a track's receive pipeline is made of.
struct ReceiveSettings: Sendable {
  let trackSid: String
  /// The name of the receive template.
  let codec: String
  let isVideo: Bool
  let payloadType: PayloadType
  /// The header element of packets that says how frames are to be turned; nil where none does.
  let orientationID: UInt8?
  let clock: ParticipantClock
  let factory: PipelineFactory
  let latency: Int?
  /// In which form its frames are sent.
  let form: FrameForm
  let logger: Logger

  /// What the program derives for its variables.
  var values: [String: String] { latency.map { ["latency": String($0)] } ?? [:] }

  fileprivate func makePipeline(
    to outputs: TrackOutputs, turn: Int, onKeyframeNeeded: @escaping @Sendable () -> Void
  ) throws(LiveKitError) -> ReceivePipeline {
    try ReceivePipeline(
      factory: source(), template: codec, values: values, isVideo: isVideo, payloadType: payloadType,
      orientationID: orientationID, to: outputs, turn: turn,
      clock: { [clock, trackSid] in clock.time(trackSid, of: $0) }, onKeyframeNeeded: onKeyframeNeeded)
  }
}

/// The one pipeline that all consumers of a track share: made for the first of them, there until the track ends, and made
/// anew for the next consumer after it failed, or for the same one after a while. Another one takes over from it where the template has changed.
final class TrackPipeline: Sendable {
  private struct State {
    var pipeline: ReceivePipeline?
    /// It is to take over.
    var next: ReceivePipeline?
    /// When one took over.
    var changed: MediaTime?
    var isOver = false
    /// How many were made.
    var turns = 0

    mutating func takeTurn() -> Int {
      turns += 1
      return turns
    }
  }

  let settings: ReceiveSettings
  private let outputs: TrackOutputs
  private let loop: TransportLoop
  private let reception: LoopBound<TrackReception>
  /// Held while the pipeline is made, never on a media thread.
  private let state = Locked(State())
  private let stops = Locked<[ObjectIdentifier: Task<Void, Never>]>([:])

  init(_ settings: ReceiveSettings, loop: TransportLoop, reception: LoopBound<TrackReception>) {
    self.settings = settings
    self.loop = loop
    self.reception = reception
    outputs = TrackOutputs(isVideo: settings.isVideo) { [isVideo = settings.isVideo] in
      if isVideo { loop.run { reception.value.requestKeyframe() } }
    }
  }

  /// Nil before the first consumer.
  var current: ReceivePipeline? { state.withLock { $0.pipeline } }

  /// Whether the track has ended.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Hands what comes out of an output to a consumer; nothing when the track has ended.
  /// - Parameter willAdd: told before, whether the output begins with it.
  /// - Throws: why there is no pipeline for it.
  func add(
    _ consumer: MediaConsumer, to output: ReceivePipeline.Output, _ willAdd: (_ isFirst: Bool) -> Void
  ) throws(LiveKitError) {
    try serve(output) { () throws(LiveKitError) in
      willAdd(!outputs.isOpen(output))
      try outputs.add(consumer, to: output)
    }
  }

  /// Has an output that failed, or whose pipeline did, made anew for those who are there; nothing when the track has ended.
  /// - Parameter willOpen: told before, whether the output begins now, and not by somebody else before.
  /// - Throws: why it cannot be.
  func revive(
    _ output: ReceivePipeline.Output, _ willOpen: (_ isFirst: Bool) -> Void
  ) throws(LiveKitError) {
    try serve(output) { () throws(LiveKitError) in
      willOpen(!outputs.isOpen(output))
      try outputs.reopen(output)
    }
  }

  /// Runs `job` once there is a pipeline.
  private func serve(
    _ output: ReceivePipeline.Output, _ job: () throws(LiveKitError) -> Void
  ) throws(LiveKitError) {
    guard let (pipeline, isNew) = try usable() else { return }
    // Also where nobody can be served, for the others and the next one.
    defer { if isNew { begin(pipeline) } }
    try job()
    // It may have failed just before, and told all who were there then.
    pipeline.tellFailure(of: output)
  }

  /// Has a pipeline that has been made serve all who are there, and only then get packets.
  private func begin(_ pipeline: ReceivePipeline) {
    outputs.renew(by: pipeline)
    pipeline.whenSettled { [weak self] in self?.attach(pipeline) }
  }

  private func usable() throws(LiveKitError) -> (ReceivePipeline, isNew: Bool)? {
    try state.withLock { state throws(LiveKitError) in
      guard !state.isOver else { return nil }
      if let pipeline = state.pipeline, pipeline.failure == nil { return (pipeline, false) }
      for old in [state.pipeline, state.next] { old.map(end) }
      (state.pipeline, state.next) = (nil, nil)
      let made = try make(state.takeTurn())
      outputs.begin(made)
      state.pipeline = made
      return (made, true)
    }
  }

  private func make(_ turn: Int) throws(LiveKitError) -> ReceivePipeline {
    try settings.makePipeline(to: outputs, turn: turn) { [weak self] in self?.askForKeyframe() }
  }

  private func attach(_ pipeline: ReceivePipeline) {
    // It may have ended meanwhile.
    guard state.withLock({ $0.pipeline === pipeline || $0.next === pipeline }) else { return }
    loop.run { [reception] in reception.value.attach(pipeline, at: .now) }
  }

  func requestKeyframe() { loop.run { [reception] in reception.value.requestKeyframe() } }

  /// Audio has none.
  func askForKeyframe() { if settings.isVideo { requestKeyframe() } }

  // MARK: Another one takes over

  /// The one that is to take over.
  var next: ReceivePipeline? { state.withLock { $0.next } }

  /// When another one took over last; nil where none has.
  var changed: MediaTime? { state.withLock { $0.changed } }

  /// Makes another one, which gets what the one that runs gets, to take over from it.
  /// - Parameter running: from which it is to take over.
  /// - Returns: nil where that one does not run any more.
  /// - Throws: what is wrong with it; nothing has changed then.
  func begin(after running: ReceivePipeline) throws(LiveKitError) -> ReceivePipeline? {
    // Made under the lock, so that `close` finds it.
    let made = try state.withLock { state throws(LiveKitError) -> ReceivePipeline? in
      guard !state.isOver, state.pipeline === running else { return nil }
      let next = try make(state.takeTurn())
      state.next.map(end)
      state.next = next
      return next
    }
    guard let next = made else { return nil }
    do throws(LiveKitError) { try outputs.expect(next) } catch {
      drop(next)
      throw error
    }
    next.whenSettled { [weak self] in self?.attach(next) }
    return next
  }

  /// Why nothing that is wanted comes of the one that is to take over; nil while it may.
  func failure(of next: ReceivePipeline) -> LiveKitError? { next.failure ?? outputs.failure }

  /// Whether something has come of the one that is to take over, wherever somebody wants it.
  var nextHasBegun: Bool { outputs.isExpectationMet }

  /// Has it take over at the next frame with which somebody may begin.
  func change() {
    outputs.change()
    askForKeyframe()
  }

  /// Ends the one before once nothing but what the next one brings goes on.
  func completeChange(to next: ReceivePipeline) -> Bool {
    guard outputs.hasChanged(to: next) else { return false }
    state.withLock { state in
      guard state.next === next else { return }
      state.pipeline.map(end)
      (state.pipeline, state.next, state.changed) = (next, nil, .now)
      outputs.settle(next)
    }
    return true
  }

  /// Goes on as before.
  func drop(_ next: ReceivePipeline) {
    state.withLock { state in
      guard state.next === next else { return }
      state.next = nil
      state.pipeline.map(outputs.begin)
      end(next)
    }
  }

  // MARK: The end

  /// Stops a pipeline; `close` waits for that.
  private func end(_ pipeline: ReceivePipeline) {
    // At once, so that the next one does not come before it.
    loop.run { [reception] in reception.value.detach(pipeline) }
    let stop = ObjectIdentifier(pipeline)
    // Nobody ends the pipeline before it is noted that it is being stopped.
    stops.withLock { stops in
      stops[stop] = Task { [loop, stopsUnderWay = self.stops] in
        await loop.call {}
        await pipeline.stop()
        _ = stopsUnderWay.withLock { $0.removeValue(forKey: stop) }
      }
    }
  }

  /// Returns when every pipeline of the track has stopped; none starts any more.
  /// - Parameter lastJob: runs when no consumer can be added any more, while those that are there still get media.
  func close(_ lastJob: () -> Void) async {
    let pipelines = state.withLock { state in
      state.isOver = true
      defer { (state.pipeline, state.next) = (nil, nil) }
      return [state.pipeline, state.next]
    }
    lastJob()
    for pipeline in pipelines { pipeline.map(end) }
    for stop in stops.withLock({ Array($0.values) }) { await stop.value }
  }
}
