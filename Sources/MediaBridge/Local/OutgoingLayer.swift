import GStreamerKit
import MediaCore
import MediaPipelines
import PipelineTemplates
import RTP

/// One layer of a local track on its way: encoded, or as its source carries it, cut into packets and sent.
///
/// Another size makes another encoder, since one that fits its frames into the first size would show bars. The
/// payloader stays.
final class OutgoingLayer: Sendable {
  /// What it is encoded for.
  private struct Aim {
    var layer: PublishPlan.Layer
    /// What that asks of the link.
    var demand: LinkShares.Stream
  }

  private struct State {
    var aim: Aim
    var encoder: EncodePipeline?
    /// Of what the encoder makes; nil for audio, and before.
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
  private let plan: PublishPlan
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
    (self.plan, self.stream, self.factory) = (plan, stream, factory)
    self.onFailure = onFailure
    let demand = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try Self.demand(of: layer, in: plan, stream, factory)
    }
    state = Locked(State(aim: Aim(layer: layer, demand: demand), pace: layer.rate.map(FrameRateLimit.init)))
    sending = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try SendPipeline(
        plan.codec, factory: factory, onPacket: { stream.send($0) },
        onFailure: { onFailure(LiveKitError($0)) })
    }
  }

  /// What it asks of the link: what is sent as it is fits, or waits for the room that it needs. An estimate that goes down
  /// once is 0.85 of what arrives, and may be wrong.
  var demand: LinkShares.Stream {
    let (passed, encoded) = state.withLock { ($0.passed?.bitrate, $0.aim.demand) }
    guard let bitrate = passed else { return encoded }
    guard stream.rank == nil else {
      return LinkShares.Stream(ssrc: stream.ssrc, rank: stream.rank, bitrates: bitrate * 3 / 4...bitrate)
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
  ///   - size: for which frames are encoded now, as they are seen; nil for audio.
  ///   - media: what was captured then, as it is to be encoded; a frame of another size is fitted in, with bars.
  func take(at time: MediaTime, of size: Dimensions?, _ media: () -> MediaBuffer) {
    let (encoder, makesOne) = state.withLock { state -> (EncodePipeline?, Bool) in
      state.passed = nil
      state.gate.close()
      guard !state.isIdle, !state.isMaking, state.pace?.takes(time) ?? true else { return (nil, false) }
      let layer = state.aim.layer
      if let encoder = state.encoder, state.size == size.map({ layer.size(of: $0) }) { return (encoder, false) }
      guard state.retry.isOver(at: .now) else { return (nil, false) }
      state.isMaking = true
      return (nil, true)
    }
    if makesOne { make(for: size, media().caps) }
    encoder?.push(media(), at: .nanoseconds(time.nanoseconds), updatingCaps: true)
  }

  /// From now on it is encoded in another size, for another bitrate, or both. Called on a media thread.
  func aim(at layer: PublishPlan.Layer) {
    state.withLock { state in
      if state.aim.layer.rate != layer.rate { state.pace = layer.rate.map(FrameRateLimit.init) }
      state.aim.layer = layer
    }
    // Templates are read for it. It is done before an encoder for the next frame is made.
    work.add { [self] in askAnew(for: layer) }
  }

  private func askAnew(for layer: PublishPlan.Layer) {
    // Its templates were there when it was made, and the next encoder says what is wrong with them now.
    guard let demand = try? Self.demand(of: layer, in: plan, stream, factory) else { return }
    state.withLock { state in
      state.aim.demand = demand
      // Until the link has given it another one.
      state.share = min(state.share ?? .max, demand.bitrates.upperBound)
    }
    adjust()
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
      let share = stream.rank == nil ? most : min(state.share ?? most, most)
      return SentLayer(
        rid: state.aim.layer.rid, size: state.size, bitrate: state.isIdle ? nil : share, isWanted: state.isWanted,
        // Encoders are not asked for less than a fiftieth more.
        isLimited: state.isHeldBack || share * 50 < most * 49, leftOut: state.leftOut)
    }
  }

  /// What the link has for it, in bits a second.
  /// - Parameter share: nil where there is no room: then nothing is encoded or sent.
  func set(share: Int?) {
    // Audio has what it needs alone, or twice as much.
    if let share, stream.rank == nil { return stream.set(isRepeating: share * 2 > demand.bitrates.lowerBound * 3) }
    let (endsNow, isNew) = state.withLock { state in
      defer { state.isHeldBack = share == nil }
      guard let share else { return (!state.isHeldBack, false) }
      let most = state.aim.demand.bitrates.upperBound
      let isNew = state.share.map { abs($0 - share) * 50 > $0 } ?? (share != most)
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
      let layer = state.withLock { $0.aim.layer }
      do throws(LiveKitError) {
        let new = try LiveKitError.wrapping { () throws(PipelineFailure) in
          try makeEncoder(of: layer, for: size, rate: layer.rate(of: caps))
        }
        new.set(caps: caps)
        state.withLock { state in
          state.encoder = new
          (state.size, state.isMaking) = (size.map { layer.size(of: $0) }, false)
        }
        adjust()
      } catch {
        // What fails once fails each time.
        state.withLock { $0.isStopped = true }
        onFailure(error)
      }
    }
  }

  private func makeEncoder(
    of layer: PublishPlan.Layer, for size: Dimensions?, rate: String?
  ) throws(PipelineFailure) -> EncodePipeline {
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
}

extension OutgoingLayer {
  /// That of the second failure in a row.
  private static let longestPause = Duration.seconds(4)
}

extension VideoFrame {
  /// As it is seen.
  var uprightSize: Dimensions {
    let size = dimensions
    return rotation == ._90 || rotation == ._270 ? Dimensions(width: size.height, height: size.width) : size
  }
}
