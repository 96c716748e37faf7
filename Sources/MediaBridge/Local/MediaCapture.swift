import GStreamerKit
import MediaCore
import MediaPipelines

/// Media as it was captured, and when: a frame, or a stretch of audio.
struct CapturedMedia: Sendable {
  let media: MediaBuffer
  let time: MediaTime
  /// As its source carries it; else raw.
  var isEncoded = false
  /// By which pipeline of its source it was captured: one that begins anew goes on from nothing that came of another.
  var run = 0
}

/// What one local track is told of its capture, on any thread.
struct CaptureHandlers: Sendable {
  /// Called on a media thread, in order; to return at once.
  let media: @Sendable (CapturedMedia) -> Void
  /// Nothing comes any more: at the end of a file without an error.
  let end: @Sendable (LiveKitError?) -> Void
}

/// Where a local track's media comes from.
protocol MediaCapture: AnyObject, Sendable {
  /// Begins to capture. Not while it captures.
  func start(_ handlers: CaptureHandlers) async throws(LiveKitError)
  /// The device is let go of, and nothing comes any more, when it returns.
  func stop() async
  /// Whether it is no device, and goes on while its track is muted: it would begin anew, or have gone by.
  var goesOnMuted: Bool { get }
  /// Whether it may hand over media as its source carries it.
  func mayBeEncoded() async -> Bool
  /// Why it hands over raw media although it was to leave what it can as it is; nil where it was not.
  func reasonToDecode() async -> String?
  /// What decodes media that is handed over as its source carries it.
  func makeDecoder(
    _ kind: CapturePipeline.Kind, onMedia: @escaping @Sendable (CapturedMedia) -> Void,
    onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) async throws(LiveKitError) -> MediaDecoder
}

extension MediaCapture {
  var goesOnMuted: Bool { false }
  func mayBeEncoded() async -> Bool { false }
  func reasonToDecode() async -> String? { nil }
  func makeDecoder(
    _ kind: CapturePipeline.Kind, onMedia: @escaping @Sendable (CapturedMedia) -> Void,
    onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) async throws(LiveKitError) -> MediaDecoder {
    try MediaDecoder(kind, factory: PipelineFactory(folder: nil), onMedia: onMedia, onFailure: onFailure)
  }
}
