import GStreamerKit
import MediaCore
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
  /// Of the pictures that the decoder for renderers was given, those that it passed over.
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

/// The media of one subscribed track: its stream from the network, and the pipelines that feed on it.
final class TrackMedia: Sendable {
  let trackSid: String
  let codec: String
  let isVideo: Bool
  private let loop: TransportLoop
  private let reception: LoopBound<TrackReception>
  private let factory: PipelineFactory
  private let payloadType: PayloadType
  private let orientationID: UInt8?
  private let latency: Int?
  private let clock: ParticipantClock
  /// Of what the decoder for renderers makes.
  let meter: DecoderMeter
  struct Decoding {
    /// The pipeline, and whether what it makes is still wanted: it may have a last picture when another one has begun.
    var running: (pipeline: ReceivePipeline, isWanted: Locked<Bool>)?
    var isOver = false
  }
  let decoding = Locked(Decoding())

  init(
    trackSid: String, codec: String, isVideo: Bool, payloadType: PayloadType, orientationID: UInt8?,
    clockRate: UInt32, loop: TransportLoop, clock: ParticipantClock, meter: DecoderMeter,
    reception: LoopBound<TrackReception>, factory: PipelineFactory, latency: Int?
  ) {
    self.trackSid = trackSid
    self.codec = codec.lowercased()
    self.isVideo = isVideo
    self.loop = loop
    self.clock = clock
    self.meter = meter
    self.reception = reception
    self.factory = factory
    self.payloadType = payloadType
    self.orientationID = orientationID
    self.latency = latency
    clock.add(trackSid, clockRate: clockRate)
  }

  /// Whether pictures may come turned, and turn while they come.
  var mayTurn: Bool { orientationID != nil }

  // MARK: Decoding for renderers

  /// Starts the decoder unless it runs; `sink` is called on a streaming thread. Not from two threads at once.
  func startDecoding(_ sink: @escaping @Sendable (DecodedMedia) -> Void) {
    guard decoding.withLock({ !$0.isOver && $0.running == nil }) else { return }
    let (isVideo, meter, isWanted, isMisfitTold) = (isVideo, meter, Locked(true), Locked(false))
    meter.interrupt()
    do {
      let pipeline = try attach(
        codec, output: isVideo ? .frames : .pcm, isMetered: true,
        onFailure: { [weak self] in self?.decoderChanged($0) },
        onBuffer: { [weak self] media in
          guard let time = media.pts, isWanted.withLock({ $0 }) else { return }
          if isVideo, let frame = VideoFrameBuffer(media).map({ VideoFrame(buffer: $0, time: time) }) {
            meter.note(frame)
            sink(.video(frame))
          } else if !isVideo, let sound = AudioBuffer(media).map({ AudioPCMBuffer(buffer: $0, time: time) }) {
            meter.note(sound)
            sink(.audio(sound))
          } else if isMisfitTold.set(\.self, to: true) {
            self?.decoderChanged(.notRaw(media, codec: self?.codec ?? ""))
          }
        })
      let isTooLate = decoding.withLock { decoding in
        if !decoding.isOver { decoding.running = (pipeline, isWanted) }
        return decoding.isOver
      }
      if isTooLate { detach(pipeline) } else { decoderChanged(nil) }
    } catch {
      decoderChanged(error)
    }
  }

  func stopDecoding() {
    let running = decoding.withLock { decoding in
      defer { decoding.running = nil }
      return decoding.running
    }
    guard let running else { return }
    running.isWanted.withLock { $0 = false }
    loop.run { [reception] in reception.value.decodingEnds() }
    detach(running.pipeline)
  }

  private let decoderHandler = Locked<@Sendable (LiveKitError?) -> Void>({ _ in })

  private func decoderChanged(_ error: LiveKitError?) { decoderHandler.withLock { $0 }(error) }

  /// Calls `handler` from now on with why there are no pictures or no sound although media arrives, and with nil when a
  /// decoder begins (anew).
  func onDecoderChange(_ handler: @escaping @Sendable (LiveKitError?) -> Void) {
    decoderHandler.withLock { $0 = handler }
  }

  // MARK: Pipelines

  /// Runs receive template `template` on the track's packets, from the newest keyframe that is still at hand on.
  /// - Parameters:
  ///   - isMetered: whether `meter` counts what comes out.
  ///   - onFailure: told when the pipeline fails while it runs.
  func attach(
    _ template: String, output: ReceivePipeline.Output, isMetered: Bool = false,
    onFailure: @escaping @Sendable (LiveKitError) -> Void, onBuffer: @escaping @Sendable (MediaBuffer) -> Void
  ) throws(LiveKitError) -> ReceivePipeline {
    let (clock, trackSid) = (clock, trackSid)
    let pipeline = try ReceivePipeline(
      factory: factory, template: template, output: output, payloadType: payloadType, latency: latency,
      orientationID: orientationID, clock: { clock.time(trackSid, of: $0) },
      onKeyframeNeeded: { [weak self] in self?.requestKeyframe() },
      onFailure: onFailure, onBuffer: onBuffer)
    loop.run { [reception] in reception.value.attach(pipeline, isMetered: isMetered, at: .now) }
    return pipeline
  }

  /// Takes a pipeline off and stops it; nothing comes out of it once the returned task has ended.
  @discardableResult
  func detach(_ pipeline: ReceivePipeline) -> Task<Void, Never> {
    let stop = ObjectIdentifier(pipeline)
    // At once, so that the next one does not come before it.
    loop.run { [reception] in reception.value.detach(pipeline) }
    // Nobody ends the pipeline before it is noted that it is being stopped.
    return stops.withLock { stops in
      let stopping = Task { [loop, stopsUnderWay = self.stops] in
        await loop.call {}
        await pipeline.stop()
        _ = stopsUnderWay.withLock { $0.removeValue(forKey: stop) }
      }
      stops[stop] = stopping
      return stopping
    }
  }
  private let stops = Locked<[ObjectIdentifier: Task<Void, Never>]>([:])

  /// Calls `handler` once something has come that can be shown or heard; once, on the transport's loop.
  func onFlow(_ handler: @escaping @Sendable () -> Void) { loop.run { [reception] in reception.value.onFlow(handler) } }

  func requestKeyframe() { loop.run { [reception] in reception.value.requestKeyframe() } }

  /// Returns when every pipeline of the track has stopped; none starts any more.
  func close() async {
    let last = await statistics()
    lastStatistics.withLock { $0 = $0 ?? last }
    decoding.withLock { $0.isOver = true }
    stopDecoding()
    clock.remove(trackSid)
    for stop in stops.withLock({ Array($0.values) }) { await stop.value }
  }

  func statistics() async -> ReceptionStatistics {
    if let last = lastStatistics.withLock({ $0 }) { return last }
    return await loop.call { [reception] in reception.value.statistics }
  }
  /// As it was closed.
  private let lastStatistics = Locked<ReceptionStatistics?>(nil)

  /// All that was counted; nothing more once it is closed, and nothing before.
  var counts: MediaCounts { MediaCounts(reception: lastStatistics.withLock { $0 }, decoder: meter.figures) }
}

extension LiveKitError {
  /// What comes out of a receive text of somebody's own can be neither shown nor heard.
  fileprivate static func notRaw(_ media: MediaBuffer, codec: String) -> LiveKitError {
    LiveKitError(
      .template,
      "the receive text \(codec) hands out \(media.caps.mediaType), where raw frames or raw "
        + "interleaved PCM is needed; add a decoder to it")
  }
}
