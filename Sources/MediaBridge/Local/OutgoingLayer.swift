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
  }

  let stream: OutgoingStream
  private let plan: PublishPlan
  private let layer: PublishPlan.Layer
  private let factory: PipelineFactory
  private let sending: SendPipeline
  private let onFailure: @Sendable (LiveKitError) -> Void
  private let state = Locked(State())
  /// What is being made or stopped.
  private let work = Locked<Task<Void, Never>?>(nil)

  init(
    _ layer: PublishPlan.Layer, of plan: PublishPlan, stream: OutgoingStream, factory: PipelineFactory,
    onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) {
    (self.layer, self.plan, self.stream, self.factory) = (layer, plan, stream, factory)
    self.onFailure = onFailure
    sending = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try SendPipeline(
        plan.codec, factory: factory, onPacket: { stream.send($0, captured: $0.pts) },
        onFailure: { onFailure(LiveKitError($0)) })
    }
  }

  /// Called on a media thread.
  func take(_ captured: CapturedMedia) {
    let size = layer.size == nil ? nil : VideoFrame(captured).map(\.uprightSize)
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
    let old = state.withLock { state -> EncodePipeline? in
      guard state.isPaused != paused else { return nil }
      state.isPaused = paused
      guard paused else { return nil }
      defer { state.encoder = nil }
      return state.encoder
    }
    if let old { afterwards { await old.stop() } }
  }

  /// The next media makes a new encoder, which begins with a keyframe.
  func reset() {
    let old = state.withLock { state in
      defer { state.encoder = nil }
      return state.encoder
    }
    if let old { afterwards { await old.stop() } }
  }

  /// Nothing is sent any more when it returns.
  func stop() async {
    state.withLock { $0.isStopped = true }
    await work.withLock { $0 }?.value
    let encoder = state.withLock { state in
      defer { state.encoder = nil }
      return state.encoder
    }
    await encoder?.stop()
    await sending.stop()
  }

  // MARK: Encoders

  /// Not on the media thread: what is captured meanwhile goes nowhere.
  private func make(for size: Dimensions?, _ caps: Caps) {
    afterwards { [self] in
      let old = state.withLock { state in
        defer { state.encoder = nil }
        return state.encoder
      }
      await old?.stop()
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
      let fitted = size.fitted(into: wanted)
      (values["width"], values["height"]) = (String(fitted.width), String(fitted.height))
    }
    return values
  }

  private func afterwards(_ body: @escaping @Sendable () async -> Void) {
    work.withLock { work in
      work = Task { [earlier = work] in
        await earlier?.value
        await body()
      }
    }
  }
}

extension VideoFrame {
  /// As it is seen.
  var uprightSize: Dimensions {
    let size = dimensions
    return rotation == ._90 || rotation == ._270 ? Dimensions(width: size.height, height: size.width) : size
  }
}

extension Dimensions {
  /// The same shape with as many pixels on the longer side as the other has, at most as large as it is.
  fileprivate func fitted(into other: Dimensions) -> Dimensions {
    let longer = Double(max(width, height, 1))
    let factor = min(1, Double(max(other.width, other.height)) / longer)
    func even(_ length: Int32) -> Int32 { max(2, Int32((Double(length) * factor).rounded()) & ~1) }
    return Dimensions(width: even(width), height: even(height))
  }
}
