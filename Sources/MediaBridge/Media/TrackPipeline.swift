import GStreamerKit
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

  func makePipeline(onKeyframeNeeded: @escaping @Sendable () -> Void) throws(LiveKitError) -> ReceivePipeline {
    try ReceivePipeline(
      factory: factory, template: codec, isVideo: isVideo, payloadType: payloadType, latency: latency,
      orientationID: orientationID, clock: { [clock, trackSid] in clock.time(trackSid, of: $0) },
      onKeyframeNeeded: { [isVideo] in if isVideo { onKeyframeNeeded() } })
  }
}

/// The one pipeline that all consumers of a track share: made for the first of them, there until the track ends, and made
/// anew for the next consumer after it failed.
final class TrackPipeline: Sendable {
  private struct State {
    var pipeline: ReceivePipeline?
    var isOver = false
  }

  private let settings: ReceiveSettings
  private let loop: TransportLoop
  private let reception: LoopBound<TrackReception>
  /// Held while the pipeline is made, never on a media thread.
  private let state = Locked(State())
  private let stops = Locked<[ObjectIdentifier: Task<Void, Never>]>([:])

  init(_ settings: ReceiveSettings, loop: TransportLoop, reception: LoopBound<TrackReception>) {
    self.settings = settings
    self.loop = loop
    self.reception = reception
  }

  /// Nil before the first consumer.
  var current: ReceivePipeline? { state.withLock { $0.pipeline } }

  /// Whether the track has ended.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Hands what comes out of an output to a consumer; nothing when the track has ended.
  /// - Parameter willAdd: told before, whether it is the first one there.
  /// - Throws: why there is no pipeline for it.
  func add(
    _ consumer: MediaConsumer, to output: ReceivePipeline.Output, _ willAdd: (_ isFirst: Bool) -> Void
  ) throws(LiveKitError) {
    guard let (pipeline, isNew) = try usable() else { return }
    willAdd(!pipeline.isConsumed(output))
    // Also where this consumer cannot be served, for the next one.
    defer { if isNew { pipeline.whenSettled { [weak self] in self?.attach(pipeline) } } }
    try pipeline.add(consumer, to: output)
  }

  private func usable() throws(LiveKitError) -> (ReceivePipeline, isNew: Bool)? {
    try state.withLock { state throws(LiveKitError) in
      guard !state.isOver else { return nil }
      if let pipeline = state.pipeline, pipeline.failure == nil { return (pipeline, false) }
      state.pipeline.map(end)
      let made = try settings.makePipeline { [weak self] in self?.requestKeyframe() }
      state.pipeline = made
      return (made, true)
    }
  }

  private func attach(_ pipeline: ReceivePipeline) {
    // It may have ended meanwhile.
    guard current === pipeline else { return }
    loop.run { [reception] in reception.value.attach(pipeline, at: .now) }
  }

  func requestKeyframe() { loop.run { [reception] in reception.value.requestKeyframe() } }

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
    let pipeline = state.withLock { state in
      state.isOver = true
      defer { state.pipeline = nil }
      return state.pipeline
    }
    lastJob()
    pipeline.map(end)
    for stop in stops.withLock({ Array($0.values) }) { await stop.value }
  }
}
