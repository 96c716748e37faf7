import GStreamerKit
import MediaCore
import MediaPipelines
import PeerTransport
import RTP

/// What a decoder made.
enum DecodedMedia: Sendable {
  case video(VideoFrame)
  case audio(AudioPCMBuffer)
}

/// What the network did to a track's media.
struct ReceptionStatistics: Sendable {
  var rtp: RTPReceiver.Statistics
  var framesReceived: Int
  /// Of the frames that the decoder for renderers was given, those that it passed over.
  var framesDropped: Int
  /// Whether something has come that can be shown or heard: of a video at least a keyframe.
  var isFlowing: Bool
  var ssrc: SSRC?
  var rtxSSRC: SSRC?
  var mid: String
  /// The encoding name as the description spells it.
  var codec: String
  var payloadType: PayloadType?
}

/// In which form a consumer wants a track's media.
enum MediaForm: Sendable {
  /// As the sender encoded it.
  case encoded
  /// Decoded frames or samples.
  case raw
}

/// The media of one subscribed track: its stream from the network, and the pipeline behind it that all its consumers
/// share.
final class TrackMedia: Sendable {
  private let settings: ReceiveSettings
  private let loop: TransportLoop
  private let reception: LoopBound<TrackReception>
  private let shared: TrackPipeline
  /// Of what the decoder for renderers makes.
  let meter: DecoderMeter
  /// Of those who show or hear the track.
  private let renderers = Locked(Renderers())
  private let decoderHandler = Handler<LiveKitError?>()
  /// Of its RTP timestamps, in ticks a second.
  let clockRate: Int
  /// Whether it is the same stream as what came of the track before, which has gone on in another codec.
  let isContinuation: Bool
  /// As it was closed.
  private let lastStatistics = Locked<ReceptionStatistics?>(nil)

  private struct Renderers: Sendable {
    var consumer: MediaConsumer?
    /// Frames for which the decoder was too slow, of earlier consumers.
    var missed = 0
    var dropped: Int { missed + (consumer?.dropped ?? 0) }
  }

  init(
    _ settings: ReceiveSettings, clockRate: UInt32, loop: TransportLoop, meter: DecoderMeter,
    reception: LoopBound<TrackReception>, isContinuation: Bool
  ) {
    self.settings = settings
    self.isContinuation = isContinuation
    self.loop = loop
    self.meter = meter
    self.reception = reception
    shared = TrackPipeline(settings, loop: loop, reception: reception)
    self.clockRate = Int(clockRate)
    settings.clock.add(settings.trackSid, clockRate: clockRate, isVideo: settings.isVideo)
    settings.form.onLayers { [weak shared] in shared?.followLayers() }
  }

  var trackSid: String { settings.trackSid }
  var codec: String { settings.codec }
  var isVideo: Bool { settings.isVideo }
  var clock: ParticipantClock { settings.clock }
  /// In which form its frames are sent.
  var form: FrameForm { settings.form }
  /// Whether frames may come turned, and turn while they come.
  var mayTurn: Bool { settings.orientationID != nil }
  /// Whether frames are sent in another order than they are shown.
  var hasBFrames: Bool { form.isReordered }
  /// Whether a frame may be several in one stream, one for each spatial layer.
  var hasSpatialLayers: Bool { form.isLayered }
  /// What all consumers share; nil before the first.
  var pipeline: ReceivePipeline? { shared.current }
  /// The one that is to take over from it.
  var nextPipeline: ReceivePipeline? { shared.next }

  // MARK: Decoding for renderers

  /// Decodes for renderers unless that is under way; `sink` is called on a streaming thread. Not from two threads at
  /// once.
  func startDecoding(_ sink: @escaping @Sendable (DecodedMedia) -> Void) {
    guard renderers.withLock({ $0.consumer == nil }), !shared.isOver else { return }
    let (isVideo, meter, isMisfitTold) = (isVideo, meter, Locked(false))
    let decodedPast = Locked(DecodedPast(newest: meter.newestTime, at: .now))
    meter.interrupt()
    do {
      let consumer = try consume(
        .raw, isMetered: true, onFailure: { [weak self] in self?.decoderChanged($0) },
        onRetry: {
          let past = DecodedPast(newest: meter.newestTime, isRetry: true, at: .now)
          decodedPast.withLock { $0 = past }
        },
        onBegin: { [weak self] in if self?.shared.isOver == false { self?.decoderChanged(nil) } },
        onBuffer: { [weak self] media in
          guard let time = media.pts else { return }
          let past = decodedPast.withLock { $0 }
          if isVideo, let frame = VideoFrameBuffer(media).map({ VideoFrame(buffer: $0, time: time) }) {
            meter.note(frame)
            if past.wasShown(time, at: .now) { return }
            sink(.video(frame))
          } else if !isVideo, let audio = AudioBuffer(media).map({ AudioPCMBuffer(buffer: $0, time: time) }) {
            if past.wasHeard(time, at: .now) { return }
            meter.note(audio)
            sink(.audio(audio))
          } else if isMisfitTold.set(\.self, to: true) {
            self?.decoderChanged(.notRaw(media, codec: self?.codec ?? ""))
          }
        })
      renderers.withLock { $0.consumer = consumer }
      // It may have been closed meanwhile.
      if shared.isOver { stopDecoding() }
    } catch {
      decodingEnds()
      decoderChanged(error)
    }
  }

  func stopDecoding() {
    let consumer = renderers.withLock { renderers in
      defer { renderers.consumer = nil }
      return renderers.consumer
    }
    guard let consumer else { return }
    consumer.stop()
    renderers.withLock { $0.missed += consumer.dropped }
    decodingEnds()
  }

  /// Frames that renderers got, and those for which the decoder was too slow.
  var decoding: LossWindow.Count {
    LossWindow.Count(delivered: meter.figures.framesDecoded, lost: renderers.withLock(\.dropped))
  }

  private func decoderChanged(_ error: LiveKitError?) { decoderHandler.call(error) }

  /// Calls `handler` from now on with why there are no frames or no audio although media arrives, and with nil when a
  /// decoder begins (anew).
  func onDecoderChange(_ handler: @escaping @Sendable (LiveKitError?) -> Void) {
    decoderHandler.set(handler)
  }

  // MARK: Consumers

  /// Hands the track's media to a consumer until it stops: from the newest keyframe on where that was within a second,
  /// else from the next one, which is asked for.
  /// - Parameters:
  ///   - isMetered: whether `meter` counts what it gets.
  ///   - fullness: how much of the consumer's room is taken, 0…1. One that is full loses encoded frames up to the next
  ///     keyframe.
  ///   - onFailure: told when nothing comes for now, on any thread. It is tried again after a while.
  ///   - onRetry: called ahead of each further try, on any thread.
  ///   - onBegin: called behind each try that did not fail, the first one, too, on any thread, and ahead of `onFailure`
  ///     for what fails then.
  ///   - onBuffer: called on a streaming thread, in order; to return at once.
  /// - Throws: why there is no pipeline for it.
  func consume(
    _ form: MediaForm, isMetered: Bool = false, fullness: @escaping @Sendable () -> Double = { 0 },
    onFailure: @escaping @Sendable (LiveKitError) -> Void, onRetry: @escaping @Sendable () -> Void = {},
    onBegin: @escaping @Sendable () -> Void = {}, onBuffer: @escaping @Sendable (MediaBuffer) -> Void
  ) throws(LiveKitError) -> MediaConsumer {
    let output: ReceivePipeline.Output = form == .encoded ? .encoded : isVideo ? .frames : .pcm
    let revival = ConsumerRevival(
      onFailure: { [weak self] error, consumer in
        if isMetered { self?.decodingEnds(of: consumer) }
        onFailure(error)
      }, onBegin: onBegin,
      attempt: { [weak self] (consumer: MediaConsumer) throws(LiveKitError) in
        guard let self, !shared.isOver else { return }
        onRetry()
        try shared.revive(output) { isFirst in if isMetered { self.decodingBegins(isFirst: isFirst, of: consumer) } }
      })
    let consumer = MediaConsumer(
      fullness: fullness, onFailure: { revival.failed($0 as? LiveKitError ?? LiveKitError(.pipeline, "\($0)")) },
      onRetry: { revival.hurry() }, onBuffer: onBuffer)
    try revival.begin(consumer) { () throws(LiveKitError) in
      try shared.add(consumer, to: output) { isFirst in
        if isMetered { decodingBegins(isFirst: isFirst, of: consumer) }
      }
    }
    return consumer
  }

  /// Unless the consumer has stopped meanwhile, after which another one may have begun.
  private func decodingBegins(isFirst: Bool, of consumer: MediaConsumer) {
    loop.run { [reception] in if !consumer.hasStopped { reception.value.decodingBegins(isFirst: isFirst) } }
  }

  /// As `decodingBegins`.
  private func decodingEnds(of consumer: MediaConsumer) {
    loop.run { [reception] in if !consumer.hasStopped { reception.value.decodingEnds() } }
  }

  private func decodingEnds() { loop.run { [reception] in reception.value.decodingEnds() } }

  /// Calls `handler` once something has come that can be shown or heard; once, on the transport's loop.
  func onFlow(_ handler: @escaping @Sendable () -> Void) { loop.run { [reception] in reception.value.onFlow(handler) } }

  func requestKeyframe() { shared.requestKeyframe() }

  /// Where its receive template may be, whether there is one or not.
  var templateFiles: [String] { settings.factory.store.paths(of: .receive, codec) }

  func renewTemplate() async throws(LiveKitError) -> TemplateName? { try await shared.renew() }

  /// Returns when every pipeline of the track has stopped; none starts any more.
  func close() async {
    let last = await statistics()
    lastStatistics.withLock { $0 = $0 ?? last }
    await shared.close(stopDecoding)
    settings.clock.remove(trackSid)
  }

  func statistics() async -> ReceptionStatistics {
    if let last = lastStatistics.withLock({ $0 }) { return last }
    return await loop.call { [reception] in reception.value.statistics }
  }

  /// All that was counted; nothing more once it is closed, and nothing before.
  var counts: MediaCounts { MediaCounts(reception: lastStatistics.withLock { $0 }, decoder: meter.figures) }
}

extension LiveKitError {
  /// What comes out of a receive template of somebody's own can be neither shown nor heard.
  fileprivate static func notRaw(_ media: MediaBuffer, codec: String) -> LiveKitError {
    LiveKitError(
      .template,
      "the receive template \(codec) hands out \(media.caps.mediaType), where raw frames or raw "
        + "interleaved PCM is needed; add a decoder to it")
  }
}
