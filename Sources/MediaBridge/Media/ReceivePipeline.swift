import GStreamerKit
import MediaCore
import RTP

/// One receive template at work on the packets of one track.
final class ReceivePipeline: Sendable {
  /// Which of the agreed outputs the template is asked for.
  enum Output: String, Sendable {
    case frames
    case pcm
    case encoded
  }

  private let pipeline: Pipeline
  private let source: AppSource
  private let sink: AppSink

  /// - Parameters:
  ///   - clock: from RTP timestamps to our time; called on a streaming thread.
  ///   - onKeyframeNeeded: called on a streaming thread.
  ///   - onBuffer: called on a streaming thread, in order; never after `stop()`.
  init(
    factory: PipelineFactory, template: String, output: Output, latency: Int?,
    clock: @escaping @Sendable (UInt32) -> MediaTime?, onKeyframeNeeded: @escaping @Sendable () -> Void,
    onFailure: @escaping @Sendable (LiveKitError) -> Void, onBuffer: @escaping @Sendable (MediaBuffer) -> Void
  ) throws(LiveKitError) {
    let values = latency.map { ["latency": String($0)] } ?? [:]
    let (pipeline, filled) = try factory.make(.receive, template, values: values) { message in
      guard case .failed(let element, _, let text, _) = message else { return }
      onFailure(LiveKitError(.pipeline, "receive pipeline \(template): \(element): \(text)"))
    }
    self.pipeline = pipeline
    source = try factory.source("rtp", of: pipeline, filled)
    sink = try factory.sink(output.rawValue, of: pipeline, filled, onBuffer: onBuffer)
    source.onKeyframeRequest(onKeyframeNeeded)
    // A text without a buffer of that name keeps GStreamer's own times.
    try? pipeline.retimestamp(packetsFrom: "jitter", clock)
    try factory.start(pipeline, filled)
  }

  func push(_ packet: RTPPacket, at time: MediaTime) {
    source.push(packet.buffer, range: packet.start..<(packet.start + packet.count), at: time)
  }

  /// Blocks until the streaming threads have ended: not for those threads themselves.
  func stop() { pipeline.stop() }

  /// Where pipelines are stopped, so that a renderer may remove itself from within a call.
  static let queue = MediaQueue()
}
