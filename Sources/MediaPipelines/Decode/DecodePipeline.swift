package import GStreamerKit
package import MediaCore

/// A decode template at work: what a source carries in, frames or PCM out.
package final class DecodePipeline: Sendable {
  private let pipeline: Pipeline
  private let source: AppSource

  /// - Parameters:
  ///   - template: of the kind `decode`.
  ///   - onBuffer: called on a streaming thread with what comes out; to return at once.
  ///   - onFailure: told when the pipeline fails while it runs, on the thread that all pipelines share.
  package init(
    _ template: String, factory: PipelineFactory, onBuffer: @escaping @Sendable (MediaBuffer) -> Void,
    onFailure: @escaping @Sendable (PipelineFailure) -> Void
  ) throws(PipelineFailure) {
    let made = try factory.make(.decode, template)
    pipeline = made.pipeline
    source = try made.source("encoded")
    try made.sink(made.pipeline.hasElement("frames") ? "frames" : "pcm", onBuffer: onBuffer)
    made.onFailure(onFailure)
    try made.start()
  }

  /// - Parameter time: when it is to be shown, or decoded where only that is known.
  /// - Returns: false where it was not taken, since too much waits: what follows needs a keyframe.
  package func push(_ media: MediaBuffer, at time: MediaTime) -> Bool {
    let shift = time - (media.pts ?? media.dts ?? time)
    return source.push(media, pts: media.pts.map { $0 + shift }, dts: media.dts.map { $0 + shift }) == .queued
  }

  /// Decodes what waits; all of it has been handed on when this returns.
  package func drain() async throws(PipelineError) {
    try await pipeline.sendEndOfStream { [weak source] in source?.queuedBuffers ?? 0 }
  }

  /// Nothing comes after it returned.
  package func stop() async { await pipeline.stop() }
}
