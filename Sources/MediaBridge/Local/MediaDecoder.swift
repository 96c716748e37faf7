import GStreamerKit
import MediaCore
import MediaPipelines

/// Decodes what a source carries for those who take nothing else: renderers, and a track that cannot be sent as it is.
final class MediaDecoder: Sendable {
  private let pipeline: DecodePipeline
  private let gate = Locked(KeyframeGate())

  /// - Parameters:
  ///   - onMedia: called on a streaming thread.
  ///   - onFailure: called on any thread.
  init(
    _ kind: CapturePipeline.Kind, factory: PipelineFactory, onMedia: @escaping @Sendable (CapturedMedia) -> Void,
    onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) {
    pipeline = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try DecodePipeline(
        kind == .video ? "video" : "audio", factory: factory,
        onBuffer: { media in
          // It was told when that is to be shown.
          if let time = media.pts { onMedia(CapturedMedia(media: media, time: time)) }
        }, onFailure: { onFailure(LiveKitError($0)) })
    }
  }

  /// What comes in front of the first keyframe goes nowhere. Called on one thread at a time.
  func take(_ captured: CapturedMedia) {
    guard gate.withLock({ $0.takes(captured) }) else { return }
    if !pipeline.push(captured.media, at: captured.time) { gate.withLock { $0.close() } }
  }

  /// All that was taken has been handed on when it returns.
  /// - Returns: why it was not, where it cannot be decoded.
  func drain() async -> LiveKitError? {
    var failure: PipelineError?
    do throws(PipelineError) { try await pipeline.drain() } catch { failure = error }
    await pipeline.stop()
    // Without anything to decode there is no end of it, either.
    guard gate.withLock({ $0.isOpen }), let failure else { return nil }
    return LiveKitError(.pipeline, "it cannot be decoded: \(failure)")
  }

  /// Nothing comes when it returned.
  func stop() async { await pipeline.stop() }
}
