import GStreamerKit
import MediaCore
import MediaPipelines
import PipelineTemplates

/// One encode template at work in front of an output: frames or PCM in, encoded media straight into the output's
/// appsrc. The memory is handed on, and never copied.
final class EncodePipeline: Sendable {
  private let pipeline: Pipeline
  private let source: AppSource
  private let sink: AppSink

  /// - Parameters:
  ///   - values: what the program derives.
  ///   - target: takes what is encoded, on a streaming thread; when it drops some, the encoder is asked for a keyframe.
  ///   - updatingCaps: whether `target` is told the format.
  ///   - onFailure: told when the pipeline fails while it runs.
  init(
    _ template: String, for kind: Track.Kind, factory: PipelineFactory, values: [String: String],
    into target: AppSource,
    updatingCaps: Bool, onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) {
    (pipeline, source, sink) = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try Self.start(template, for: kind, factory, values, into: target, updatingCaps: updatingCaps) {
        onFailure(LiveKitError($0))
      }
    }
  }

  private static func start(
    _ template: String, for kind: Track.Kind, _ factory: PipelineFactory, _ values: [String: String],
    into target: AppSource, updatingCaps: Bool, onFailure: @escaping @Sendable (PipelineFailure) -> Void
  ) throws(PipelineFailure) -> (Pipeline, AppSource, AppSink) {
    let made = try factory.make(.encode, template, values: values)
    let join = EncoderJoin(target, updatingCaps: updatingCaps)
    let source = try made.source(OutputPlanner.inputs[kind]?.encoder ?? "")
    let sink = try made.sink("encoded", onBuffer: join.push)
    join.onOverflow { [weak sink] in sink?.requestKeyframe() }
    made.onFailure(onFailure)
    try made.start()
    return (made.pipeline, source, sink)
  }

  func set(caps: Caps) { source.set(caps: caps) }

  func push(_ media: MediaBuffer, at time: MediaTime, updatingCaps: Bool) {
    source.push(media, pts: time, dts: time, updatingCaps: updatingCaps)
  }

  /// Raw media that waits, and that was dropped because the encoder did not keep up.
  var queued: Int { source.queuedBuffers }
  var dropped: Int { source.counters.dropped }

  func requestKeyframe() { sink.requestKeyframe() }

  /// Encodes what waits; all of it has been handed on when this returns.
  func drain() async throws(PipelineError) {
    try await pipeline.sendEndOfStream { [weak source] in source?.queuedBuffers ?? 0 }
  }

  func stop() async { await pipeline.stop() }
}

/// Hands encoded media on to an output.
private final class EncoderJoin: Sendable {
  private let target: AppSource
  private let updatingCaps: Bool
  private let overflow = Locked<@Sendable () -> Void>({})

  init(_ target: AppSource, updatingCaps: Bool) {
    self.target = target
    self.updatingCaps = updatingCaps
  }

  func onOverflow(_ handler: @escaping @Sendable () -> Void) { overflow.withLock { $0 = handler } }

  /// On the encoder's streaming thread. What an encoder puts before the first moment is its run-in, which decoders do
  /// without; a decoding time before it, which reordered frames begin with, is the first moment.
  func push(_ media: MediaBuffer) {
    let zero = MediaTime(nanoseconds: 0)
    guard let time = media.pts, time >= zero else { return }
    let result = target.push(media, pts: time, dts: max(media.dts ?? time, zero), updatingCaps: updatingCaps)
    if result == .full { overflow.withLock { $0 }() }
  }
}
