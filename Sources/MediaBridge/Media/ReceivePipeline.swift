import GStreamerKit
import MediaCore
import MediaPipelines
import PipelineTemplates
import RTP

/// The receive template of one track at work on its packets.
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

  private let made: TemplatePipeline
  private let source: PacketInput
  private let jitter: Element?
  private let outputs: ReceiveOutputs
  private let failed = Locked<LiveKitError?>(nil)
  /// Its number among those of the track.
  let turn: Int

  /// - Parameters:
  ///   - destinations: where what comes out goes.
  ///   - turn: its number among those that bring something there.
  ///   - values: what the program derives for the template's variables.
  ///   - payloadType: of the packets; the jitter buffer wants to know.
  ///   - orientationID: the header element of packets that says how frames are to be turned.
  ///   - clock: from RTP timestamps to our time; called on a streaming thread.
  ///   - onKeyframeNeeded: called on any thread.
  init(
    factory: PipelineFactory, template: String, values: [String: String], isVideo: Bool, payloadType: PayloadType,
    orientationID: UInt8? = nil, to destinations: TrackOutputs, turn: Int = 0,
    clock: @escaping @Sendable (UInt32) -> MediaTime?, onKeyframeNeeded: @escaping @Sendable () -> Void
  ) throws(LiveKitError) {
    (tellsTurns, self.turn) = (orientationID != nil, turn)
    made = try factory.makeReceiver(template, values: values)
    source = try made.packetInput("rtp", onKeyframeRequest: onKeyframeNeeded)
    // Nil as well where it was taken out.
    jitter = try? made.pipeline.element(named: "jitter")
    longestWait = source.sequencing?.latency ?? jitter?.int("latency").map { .milliseconds($0) }
    outputs = try ReceiveOutputs(
      of: made, isVideo: isVideo, to: destinations.all, turn: turn, onKeyframeNeeded: onKeyframeNeeded)
    // A template without an element of that name keeps GStreamer's own times, and frames as they come.
    if jitter != nil { try? pipeline.retimestamp(elementNamed: "jitter", clock) }
    if let orientationID { tagOrientation(orientationID) }
    made.onFailure { [weak self] in self?.fail(LiveKitError($0)) }
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

  var pipeline: Pipeline { made.pipeline }
  var template: FilledTemplate { made.template }

  /// Why nothing comes out of it any more; nil while something may.
  var failure: LiveKitError? { failed.withLock { $0 } }

  /// Packets of one frame come together: one by one they would wake the pipeline's threads for each, which costs more
  /// than what they do with it.
  func push(_ packets: [AppSource.Packet]) {
    outputs.noteBeginning()
    source.push(packets)
  }

  /// Runs `job` when the outputs that were asked for are there.
  func whenSettled(_ job: @escaping @Sendable () -> Void) {
    outputs.whenSettled(job)
  }

  /// Whether frames may come turned, which is told ahead of a push.
  let tellsTurns: Bool

  /// Whether packets are to be pushed in their order, with the times at which they are shown.
  var takesSequence: Bool { source.sequencing != nil }

  /// Whether nothing comes out behind a lost packet before a keyframe.
  var awaitsKeyframes: Bool { source.sequencing?.awaitsKeyframes ?? false }

  /// Tells that a packet does not come, between those ahead of it and those behind.
  func skip(_ number: SequenceNumber, at time: MediaTime, duration: Duration) {
    source.skip(number.rawValue, at: time, duration: duration)
  }

  /// How long the template lets a lost packet be waited for; nil where nothing waits.
  let longestWait: Duration?

  /// Waits for a lost packet for so long from now on.
  func wait(for time: Duration) { try? jitter?.set("latency", to: Int(time.nanoseconds / 1_000_000)) }

  /// Makes what is wanted of an output, unless it is there.
  /// - Throws: what the template lacks for it.
  func open(_ output: Output) throws(LiveKitError) { try outputs.open(output) }

  /// Whether what is wanted of an output is there.
  func isOpen(_ output: Output) -> Bool { outputs.isOpen(output) }

  /// Ends an output that nobody wants.
  func closeIfIdle(_ output: Output) { outputs.closeIfIdle(output) }

  /// Whether packets have come.
  var isAtWork: Bool { outputs.isAtWork }

  // MARK: The end

  /// An error that is in no output's branch ends all. Others may follow it.
  private func fail(_ error: LiveKitError) {
    let isFirst = failed.withLock { failed in
      guard failed == nil else { return false }
      failed = error
      return true
    }
    if isFirst { outputs.fail(error) }
  }

  /// Tells who wants an output that nothing comes out of it; for those who came while that was told.
  func tellFailure(of output: Output) { if let failure { outputs.fail(output, failure) } }

  /// No buffer comes after it returned.
  func stop() async {
    guard await pipeline.stop() else { return }
    await outputs.settle()
  }
}
