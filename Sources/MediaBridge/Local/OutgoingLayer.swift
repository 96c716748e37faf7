import GStreamerKit
import MediaCore
import MediaPipelines
import PipelineTemplates
import RTP

/// One layer of a local track on its way: encoded, or as its source carries it, cut into packets and sent.
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
    /// Nobody wants it.
    var isPaused = false
    /// Nothing is captured of its track.
    var isMuted = false
    /// The link has no room for it.
    var isHeldBack = false
    /// Bits a second; nil before the link has given any.
    var share: Int?
    /// Of what is encoded.
    var pace: FrameRateLimit?
    /// Of what is sent as it is, which nobody can be asked to send less of.
    var passed: PassedRate?
    /// What comes as it is begins with a keyframe.
    var gate = KeyframeGate()
    /// By encoders that have gone.
    var leftOutBefore = 0
    /// In which no encoder is made, since one has failed.
    var retry = RetryPause()

    /// Whether it would be sent if there was room.
    var isWanted: Bool { !isStopped && !isPaused && !isMuted }
    var isIdle: Bool { !isWanted || isHeldBack }
    var leftOut: Int { leftOutBefore + (encoder?.dropped ?? 0) }

    mutating func takeEncoder() -> EncodePipeline? {
      defer { encoder = nil }
      leftOutBefore = leftOut
      return encoder
    }
  }

  let stream: OutgoingRTP
  private let encoding: LinkShares.Stream
  private let plan: PublishPlan
  private let layer: PublishPlan.Layer
  private let factory: PipelineFactory
  private let sending: SendPipeline
  private let onFailure: @Sendable (LiveKitError) -> Void
  private let state: Locked<State>
  /// What is being made or stopped.
  private let work = TaskChain()

  init(
    _ rank: Int, of plan: PublishPlan, stream: OutgoingRTP, factory: PipelineFactory,
    onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) {
    let layer = plan.layers[rank]
    (self.layer, self.plan, self.stream, self.factory) = (layer, plan, stream, factory)
    self.onFailure = onFailure
    state = Locked(State(pace: layer.rate.map(FrameRateLimit.init)))
    encoding = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try Self.demand(of: layer, rank, of: plan, stream, factory)
    }
    sending = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try SendPipeline(
        plan.codec, factory: factory, onPacket: { stream.send($0) },
        onFailure: { onFailure(LiveKitError($0)) })
    }
  }

  /// What it asks of the link: what is sent as it is fits, or waits for the room that it needs. An estimate that goes down
  /// once is 0.85 of what arrives, and may be wrong.
  var demand: LinkShares.Stream {
    guard let bitrate = state.withLock({ $0.passed?.bitrate }) else { return encoding }
    guard encoding.rank == nil else {
      return LinkShares.Stream(ssrc: stream.ssrc, rank: encoding.rank, bitrates: bitrate * 3 / 4...bitrate)
    }
    return LinkShares.Stream(
      ssrc: stream.ssrc, rank: nil, bitrates: bitrate...(plan.isRedundant ? 2 * bitrate : bitrate))
  }

  /// Sends what a source carries as it is, from a keyframe on. Called on a media thread.
  /// - Parameter captured: of its codec.
  func pass(_ captured: CapturedMedia) {
    let isSent = state.withLock { state in
      state.passed = state.passed ?? PassedRate()
      state.passed?.note(bytes: captured.media.size, at: captured.time)
      guard state.isIdle else { return state.gate.takes(captured) }
      state.gate.close()
      return false
    }
    if isSent { sending.push(captured.media, at: captured.time) }
  }

  /// Encodes and sends. Called on a media thread.
  /// - Parameters:
  ///   - size: of a frame as it is seen; nil for audio.
  ///   - media: what was captured then, as it is to be encoded.
  func take(at time: MediaTime, of size: Dimensions?, _ media: () -> MediaBuffer) {
    let (encoder, makesOne) = state.withLock { state -> (EncodePipeline?, Bool) in
      state.passed = nil
      state.gate.close()
      guard !state.isIdle, !state.isMaking, state.pace?.takes(time) ?? true else { return (nil, false) }
      if let encoder = state.encoder, state.size == size { return (encoder, false) }
      guard state.retry.isOver(at: .now) else { return (nil, false) }
      state.isMaking = true
      return (nil, true)
    }
    if makesOne { make(for: size, media().caps) }
    encoder?.push(media(), at: .nanoseconds(time.nanoseconds), updatingCaps: true)
  }

  /// Takes what the server reports of any stream, on the transport's loop.
  func receive(_ report: RTCPPacket, at time: MediaTime) {
    // Nobody waits for the rest of what is sent no more.
    let isSent = state.withLock { !$0.isIdle }
    if stream.receive(report, at: time, repeats: isSent) { requestKeyframe() }
  }

  /// Not on the loop: an encoder may be at a frame.
  private func requestKeyframe() { work.add { [self] in state.withLock { $0.encoder }?.requestKeyframe() } }

  /// Nothing is encoded or sent while nobody wants it.
  func set(paused: Bool) {
    state.withLock { $0.isPaused = paused }
    if paused { reset() }
  }

  /// Nothing is encoded or sent, and no room is needed for it, while it is muted.
  func set(muted: Bool) {
    state.withLock { $0.isMuted = muted }
    if muted { reset() }
  }

  /// Whether it would be sent if there was room.
  var isWanted: Bool { state.withLock(\.isWanted) }

  /// How it is sent now.
  var sent: SentLayer {
    let most = demand.bitrates.upperBound
    return state.withLock { state in
      let share = encoding.rank == nil ? most : min(state.share ?? most, most)
      return SentLayer(
        rid: layer.rid, size: state.size.map { layer.size(of: $0) }, bitrate: state.isIdle ? nil : share,
        isWanted: state.isWanted,
        // Encoders are not asked for less than a fiftieth more.
        isLimited: state.isHeldBack || share * 50 < most * 49, leftOut: state.leftOut)
    }
  }

  /// What the link has for it, in bits a second.
  /// - Parameter share: nil where there is no room: then nothing is encoded or sent.
  func set(share: Int?) {
    // Audio has what it needs alone, or twice as much.
    if let share, encoding.rank == nil { return stream.set(isRepeating: share * 2 > demand.bitrates.lowerBound * 3) }
    let (endsNow, isNew) = state.withLock { state in
      defer { state.isHeldBack = share == nil }
      guard let share else { return (!state.isHeldBack, false) }
      let isNew = state.share.map { abs($0 - share) * 50 > $0 } ?? (share != encoding.bitrates.upperBound)
      if isNew { state.share = share }
      return (false, isNew)
    }
    if endsNow { reset() }
    // Not on the loop, either.
    if isNew { work.add { [self] in adjust() } }
  }

  private func adjust() {
    let (encoder, share) = state.withLock { ($0.encoder, $0.share) }
    if let share { encoder?.set(bitrate: share) }
  }

  /// The next media makes a new encoder, which begins with a keyframe.
  func reset() {
    let old = state.withLock { state in
      state.gate.close()
      return state.takeEncoder()
    }
    if let old { work.add { await old.stop() } }
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
        let new = try LiveKitError.wrapping { () throws(PipelineFailure) in
          try makeEncoder(for: size, rate: rate(of: caps))
        }
        new.set(caps: caps)
        state.withLock { state in
          state.encoder = new
          (state.size, state.isMaking) = (size, false)
        }
        adjust()
      } catch {
        // What fails once fails each time.
        state.withLock { $0.isStopped = true }
        onFailure(error)
      }
    }
  }

  /// - Returns: frames a second, as a fraction: what a program says of frames of its own is all there is to know. Nil where
  ///   they come as they like.
  private func rate(of caps: Caps) -> String? {
    guard let own = caps.fraction("framerate"), own.numerator > 0 else { return layer.rate.map { "\($0)/1" } }
    if let most = layer.rate, own.numerator > most * own.denominator { return "\(most)/1" }
    return "\(own.numerator)/\(own.denominator)"
  }

  private func makeEncoder(for size: Dimensions?, rate: String?) throws(PipelineFailure) -> EncodePipeline {
    var values = Self.values(of: layer, in: plan, for: size)
    values["framerate"] = rate
    let filled = try factory.fill(.encode, plan.encodeTemplate, values: values)
    return try EncodePipeline(
      filled, factory: factory, onBuffer: { [sending] in sending.push($0) },
      onFailure: { [weak self] failure in
        guard let self else { return }
        work.add { await self.encoderFailed(LiveKitError(failure)) }
      })
  }

  /// An encoder that failed while it ran is made anew with what comes after a pause, unless it fails again and again.
  private func encoderFailed(_ error: LiveKitError) async {
    let (failed, isOver) = state.withLock { state -> (EncodePipeline?, Bool) in
      // Elements behind the one that failed say so, too.
      guard let failed = state.takeEncoder() else { return (nil, false) }
      let pause = state.retry.next(at: .now)
      let isOver = pause > Self.longestPause
      state.isStopped = state.isStopped || isOver
      return (failed, isOver)
    }
    await failed?.stop()
    if isOver { onFailure(error) }
  }

  static func values(
    of layer: PublishPlan.Layer, in plan: PublishPlan, for size: Dimensions?, cores: Int = Processors.usable
  ) -> [String: String] {
    // The server asks for keyframes when somebody needs one, and an old frame is worth nothing.
    var values = ["gop": "3000", "frame-queue": "2", "threads": "1"]
    if plan.isDiscontinuous { values["dtx"] = "true" }
    // As good as libwebrtc's frames; time that is left is somebody else's.
    if plan.codec == "vp8" { values["cpu-used"] = "-12" }
    if let bitrate = layer.bitrate {
      let kilobits = String(max(1, bitrate / 1000))
      values[size == nil ? "audio-bitrate" : "bitrate"] = kilobits
    }
    if let size, layer.size != nil {
      let fitted = layer.size(of: size)
      (values["width"], values["height"]) = (String(fitted.width), String(fitted.height))
      values["threads"] = String(EncoderThreads.count(for: fitted, cores: cores))
    }
    return values
  }
}

extension OutgoingLayer {
  /// That of the second failure in a row.
  private static let longestPause = Duration.seconds(4)
  private static let leastBitrate = 30_000
  private static let usualAudioBitrate = 128_000
  /// More than any audio has, and as often as not a mistake of units.
  private static let mostAudioBitrate = 100_000_000

  /// Audio stays as it is, with or without its redundancy. What has less than half of what it is meant for looks worse than
  /// a smaller layer does, and encoders hardly keep to it; the smallest one is better than nothing.
  private static func demand(
    of layer: PublishPlan.Layer, _ rank: Int, of plan: PublishPlan, _ stream: OutgoingRTP, _ factory: PipelineFactory
  ) throws(PipelineFailure) -> LinkShares.Stream {
    guard let size = layer.size else {
      let set = factory.overrides["audio-bitrate"].flatMap { Int($0) }
        .map { min(max($0, 1), mostAudioBitrate / 1000) * 1000 }
      // A program may ask for less than nothing.
      let bitrate = min(max(set ?? layer.bitrate ?? usualAudioBitrate, 1000), mostAudioBitrate)
      return LinkShares.Stream(
        ssrc: stream.ssrc, rank: nil, bitrates: bitrate...(plan.isRedundant ? 2 * bitrate : bitrate))
    }
    let filled = try factory.fill(.encode, plan.encodeTemplate, values: values(of: layer, in: plan, for: size))
    guard let most = filled.adjustableBitrate else {
      let bitrate = layer.bitrate ?? leastBitrate
      return LinkShares.Stream(ssrc: stream.ssrc, rank: rank, bitrates: bitrate...bitrate)
    }
    let least = min(most, max(leastBitrate, rank == 0 ? most / 10 : most / 2))
    return LinkShares.Stream(ssrc: stream.ssrc, rank: rank, bitrates: least...most)
  }
}

extension PublishPlan.Layer {
  /// Frames of another shape than the first ones are no larger than those.
  fileprivate func size(of frame: Dimensions) -> Dimensions {
    size.map { frame.scaled(by: Double($0.longer) / Double(frame.longer)) } ?? frame
  }
}

extension VideoFrame {
  /// As it is seen.
  var uprightSize: Dimensions {
    let size = dimensions
    return rotation == ._90 || rotation == ._270 ? Dimensions(width: size.height, height: size.width) : size
  }
}
