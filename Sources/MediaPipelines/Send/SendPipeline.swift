package import GStreamerKit
package import MediaCore

/// A send template at work: encoded media in, RTP packets out.
package final class SendPipeline: Sendable {
  private let pipeline: Pipeline
  private let source: AppSource

  /// - Parameters:
  ///   - onPacket: called on a streaming thread with one packet; to return at once.
  ///   - onFailure: told when the pipeline fails while it runs, on the thread that all pipelines share.
  package init(
    _ name: String, factory: PipelineFactory, onPacket: @escaping @Sendable (MediaBuffer) -> Void,
    onFailure: @escaping @Sendable (PipelineFailure) -> Void
  ) throws(PipelineFailure) {
    let made = try factory.make(.send, name)
    pipeline = made.pipeline
    source = try made.source("encoded")
    try made.sink("rtp", onBuffer: onPacket)
    made.onFailure(onFailure)
    try made.start()
  }

  /// Sends what was captured at its `pts`.
  package func push(_ media: MediaBuffer) { source.push(media, dts: media.pts) }

  /// Sends what was captured at that time, whatever it says itself.
  package func push(_ media: MediaBuffer, at time: MediaTime) { source.push(media, pts: time, dts: time) }

  /// Nothing comes after it returned.
  package func stop() async { await pipeline.stop() }
}
