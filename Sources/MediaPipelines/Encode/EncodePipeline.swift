package import GStreamerKit
import MediaCore
package import PipelineTemplates

/// An encode template at work: frames or PCM in, encoded media out, for all who want it. The memory is handed on, and never
/// copied.
package final class EncodePipeline: Sendable {
  private let pipeline: Pipeline
  private let source: AppSource
  private let sink: AppSink
  /// Nil for audio, of which nothing is left out.
  private let intake: Locked<Intake>?
  private let bitrate: EncoderBitrate?
  private let keyframes: KeyframesByInterval?

  private struct Intake: Sendable {
    var choice = EncoderIntake()
    /// The newest frame where it was left out: without it the video would end sooner than it did.
    var last: (media: MediaBuffer, time: Duration, updatesCaps: Bool)?

    /// It is taken after all.
    mutating func takeLast() -> (media: MediaBuffer, time: Duration, updatesCaps: Bool)? {
      defer { last = nil }
      if last != nil { choice.takesBack() }
      return last
    }
  }

  /// - Parameters:
  ///   - template: of the kind `encode`.
  ///   - onBuffer: called on a streaming thread with what comes out; to return at once.
  ///   - onFailure: told when the pipeline fails while it runs, on the thread that all pipelines share.
  package init(
    _ template: FilledTemplate, factory: PipelineFactory, onBuffer: @escaping @Sendable (MediaBuffer) -> Void,
    onFailure: @escaping @Sendable (PipelineFailure) -> Void
  ) throws(PipelineFailure) {
    let made = try factory.make(template)
    pipeline = made.pipeline
    let isVideo = made.pipeline.hasElement("frames")
    source = try made.source(isVideo ? "frames" : "pcm")
    intake = isVideo ? Locked(Intake()) : nil
    bitrate = EncoderBitrate(of: made)
    keyframes = KeyframesByInterval(of: made)
    sink = try made.sink("encoded") { [keyframes] media in
      if !media.isDelta { keyframes?.noteKeyframe() }
      onBuffer(media)
    }
    made.onFailure(onFailure)
    try made.start()
  }

  /// The format of what is pushed, before the first of it.
  package func set(caps: Caps) { source.set(caps: caps) }

  /// Frames are left out, evenly, where the encoder does not keep up.
  /// - Parameter updatingCaps: whether the format is told from the buffer.
  package func push(_ media: MediaBuffer, at time: Duration, updatingCaps: Bool) {
    guard let intake else { return take(media, at: time, updatingCaps: updatingCaps) }
    let (now, waiting, isFull) = (MediaTime.now, source.queuedBuffers, source.fullness >= 1)
    // By the clock: frames that come together at once, as kept ones do, have not waited.
    let isTaken = intake.withLock { intake in
      let isTaken = intake.choice.takes(at: .nanoseconds(now.nanoseconds), waiting: waiting, isFull: isFull)
      intake.last = isTaken ? nil : (media, time, updatingCaps)
      return isTaken
    }
    if isTaken { take(media, at: time, updatingCaps: updatingCaps) }
  }

  private func take(_ media: MediaBuffer, at time: Duration, updatingCaps: Bool) {
    let time = MediaTime(nanoseconds: time.nanoseconds)
    source.push(media, pts: time, dts: time, updatingCaps: updatingCaps)
  }

  /// Dropped because the encoder did not keep up.
  package var dropped: Int { source.counters.dropped + (intake?.withLock { $0.choice.leftOut } ?? 0) }

  /// Has a frame encoded as a keyframe. May wait for the encoder.
  /// - Parameter time: of the frame; nil for the next one.
  package func requestKeyframe(at time: Duration? = nil) {
    if let keyframes { return keyframes.request() }
    sink.requestKeyframe(at: time.map { MediaTime(nanoseconds: $0.nanoseconds) })
  }

  /// Has the encoder aim at another bitrate while it runs, where its template lets it. May wait for the encoder.
  package func set(bitrate: Int) { self.bitrate?.set(bitrate) }

  /// Encodes what waits; all of it has been handed on when this returns.
  package func drain() async throws(PipelineError) {
    if let left = intake?.withLock({ $0.takeLast() }) {
      take(left.media, at: left.time, updatingCaps: left.updatesCaps)
    }
    try await pipeline.sendEndOfStream { [weak source] in source?.queuedBuffers ?? 0 }
  }

  /// Nothing comes after it returned.
  package func stop() async { await pipeline.stop() }
}
