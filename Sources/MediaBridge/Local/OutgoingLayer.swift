import GStreamerKit
import MediaCore
import MediaPipelines
import PipelineTemplates

/// One layer of a local track on its way: encoded, cut into packets and sent.
///
/// Frames of another size make another encoder, since one that fits its frames into the first size would show bars. The
/// payloader stays, so that its numbers go on.
final class OutgoingLayer: Sendable {
  private struct State {
    var encoder: EncodePipeline?
    /// Of what the encoder was made for; nil for audio, and before.
    var size: Dimensions?
    var isMaking = false
    var isStopped = false
    var isPaused = false

    mutating func takeEncoder() -> EncodePipeline? {
      defer { encoder = nil }
      return encoder
    }
  }

  let stream: OutgoingRTP
  private let plan: PublishPlan
  private let layer: PublishPlan.Layer
  private let factory: PipelineFactory
  private let sending: SendPipeline
  private let onFailure: @Sendable (LiveKitError) -> Void
  private let state = Locked(State())
  /// What is being made or stopped.
  private let work = TaskChain()

  init(
    _ layer: PublishPlan.Layer, of plan: PublishPlan, stream: OutgoingRTP, factory: PipelineFactory,
    onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) {
    (self.layer, self.plan, self.stream, self.factory) = (layer, plan, stream, factory)
    self.onFailure = onFailure
    sending = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try SendPipeline(
        plan.codec, factory: factory, onPacket: { stream.send($0) },
        onFailure: { onFailure(LiveKitError($0)) })
    }
  }

  /// Called on a media thread.
  /// - Parameter size: of a frame as it is seen; nil for audio.
  func take(_ captured: CapturedMedia, of size: Dimensions?) {
    let (encoder, makesOne) = state.withLock { state -> (EncodePipeline?, Bool) in
      guard !state.isStopped, !state.isPaused, !state.isMaking else { return (nil, false) }
      if let encoder = state.encoder, state.size == size { return (encoder, false) }
      state.isMaking = true
      return (nil, true)
    }
    if makesOne { make(for: size, captured.media.caps) }
    encoder?.push(captured.media, at: .nanoseconds(captured.time.nanoseconds), updatingCaps: true)
  }

  func requestKeyframe() { state.withLock { $0.encoder }?.requestKeyframe() }

  /// Nothing is encoded or sent while nobody wants it.
  func set(paused: Bool) {
    state.withLock { $0.isPaused = paused }
    if paused { reset() }
  }

  /// The next media makes a new encoder, which begins with a keyframe.
  func reset() {
    if let old = state.withLock({ $0.takeEncoder() }) { work.add { await old.stop() } }
  }

  /// Nothing is sent any more when it returns.
  func stop() async {
    state.withLock { $0.isStopped = true }
    await work.settled()
    await state.withLock { $0.takeEncoder() }?.stop()
    await sending.stop()
  }

  // MARK: Encoders

  /// Not on the media thread: what is captured meanwhile goes nowhere.
  private func make(for size: Dimensions?, _ caps: Caps) {
    work.add { [self] in
      await state.withLock { $0.takeEncoder() }?.stop()
      do throws(LiveKitError) {
        let new = try LiveKitError.wrapping { () throws(PipelineFailure) in try makeEncoder(for: size) }
        new.set(caps: caps)
        state.withLock { state in
          state.encoder = new
          (state.size, state.isMaking) = (size, false)
        }
      } catch {
        // What fails once fails each time.
        state.withLock { $0.isStopped = true }
        onFailure(error)
      }
    }
  }

  private func makeEncoder(for size: Dimensions?) throws(PipelineFailure) -> EncodePipeline {
    let filled = try factory.fill(.encode, plan.encodeTemplate, values: values(for: size))
    return try EncodePipeline(
      filled, factory: factory, onBuffer: { [sending] in sending.push($0) },
      onFailure: { [onFailure] in onFailure(LiveKitError($0)) })
  }

  private func values(for size: Dimensions?) -> [String: String] {
    // The server asks for keyframes when somebody needs one, and an old frame is worth nothing.
    var values = ["gop": "3000", "frame-queue": "2", "threads": "1"]
    if let bitrate = layer.bitrate {
      let kilobits = String(max(1, bitrate / 1000))
      values[size == nil ? "audio-bitrate" : "bitrate"] = kilobits
    }
    if let size, let wanted = layer.size {
      // Frames of another shape than the first ones are no larger than those.
      let fitted = size.scaled(by: Double(wanted.longer) / Double(size.longer))
      (values["width"], values["height"]) = (String(fitted.width), String(fitted.height))
    }
    return values
  }
}

extension VideoFrame {
  /// As it is seen.
  var uprightSize: Dimensions {
    let size = dimensions
    return rotation == ._90 || rotation == ._270 ? Dimensions(width: size.height, height: size.width) : size
  }
}
