import Bitstream
import LiveKitProtocol
import MediaCore
import PeerTransport
import RTP
import SDP

/// A published track on its way to one subscriber: chooses the layer, and makes one stream of them. Lives on the
/// server's loop.
final class DownTrack {
  let track: PublishedTrack
  /// Of who publishes it.
  let publisherSid: String
  let ssrc = SSRC(.random(in: 1...(.max - 1)))
  var mid = ""
  /// What is forwarded: the track, or the same in its other codec.
  private var source: PublishedTrack
  private var codec: Codec
  private let loop: TransportLoop
  private let send: (RTPPacket) -> Void
  /// Is there once the subscriber has answered with its payload types.
  private var stream: DownStream?
  private var wish: Wish

  /// What the subscriber asks for.
  private struct Wish {
    var layer: Int
    var isEnabled = true
    /// Frames a second, as they were said last; 0 before.
    var rate: UInt32 = 0
  }

  init(
    track: PublishedTrack, publisherSid: String, codec: Codec, firstLayer: Int, loop: TransportLoop,
    send: @escaping (RTPPacket) -> Void
  ) {
    (self.track, source) = (track, track)
    self.publisherSid = publisherSid
    wish = Wish(layer: firstLayer)
    self.codec = codec
    self.loop = loop
    self.send = send
    track.attach(self)
  }

  func detach() {
    stream?.silence?.cancel()
    source.detach(self)
  }

  private var rtxSSRC: SSRC { SSRC(ssrc.rawValue + 1) }

  /// Nothing goes out that its publisher has muted, or the subscriber does not want now.
  private var isForwarding: Bool { wish.isEnabled && !track.info.muted }

  private var blankCadence: BlankMedia.Cadence { track.isVideo ? .video : .audio }

  var sendingTrack: SendingTrack {
    let stream = "\(publisherSid)|\(track.sid)"
    return SendingTrack(
      kind: track.isVideo ? .video : .audio, msid: MediaStreamID(stream: stream, track: track.sid),
      codecs: SubscriberFormats.codecs(of: track),
      headerExtensions: SubscriberFormats.headerExtensions(of: track), cname: stream, ssrc: ssrc,
      rtxSSRC: track.isVideo ? rtxSSRC : nil)
  }

  /// The subscriber has answered and is connected: media may flow.
  /// - Returns: false when the subscriber does not take the track's codec, nor the other one that its publisher has.
  func start(with section: NegotiatedSection) -> Bool {
    if track.isReplaced, source === track { return turnToBackup(section) }
    return stream != nil || flow(in: section)
  }

  /// Begins in the codec of its source, or goes on in it.
  private func flow(in section: NegotiatedSection) -> Bool {
    guard let format = SubscriberFormats.format(for: codec, in: section) else { return turnToBackup(section) }
    if stream == nil {
      stream = makeStream(of: format, in: section)
    } else {
      stream?.rewriter.change(to: format.payloadType, codec: VideoCodec(encodingName: codec.name))
      stream?.codec = format.codec
    }
    choose(at: .now)
    requestKeyframe()
    return true
  }

  private func makeStream(of format: NegotiatedSection.Format, in section: NegotiatedSection) -> DownStream {
    let first = SequenceNumber(.random(in: 0...(.max / 2)))
    let rewriter = StreamRewriter(
      configuration: .init(
        ssrc: ssrc, clockRate: codec.clockRate, payloadType: format.payloadType,
        codec: track.isVideo ? VideoCodec(encodingName: codec.name) : nil, firstSequenceNumber: first,
        headerExtensions: elements(in: section)))
    // Those of all codecs: it may go on in another one.
    let repeated = section.formats.compactMap { format in format.rtx.map { (format.payloadType, $0) } }
    let retransmission =
      repeated.isEmpty ? nil : RTPSender.Retransmission(ssrc: rtxSSRC, payloadTypes: Dictionary(repeated) { $1 })
    let sender = RTPSender(
      configuration: .init(
        ssrc: ssrc, clockRate: codec.clockRate, retransmission: retransmission, repeats: .sparing))
    return DownStream(
      rewriter: rewriter, sender: sender, codec: format.codec, isUnwrapping: codec.isRED && !format.codec.isRED)
  }

  /// Waits for the other codec until it comes.
  private func turnToBackup(_ section: NegotiatedSection) -> Bool {
    let isTaken = section.formats.contains { $0.codec.isNamed(track.backupCodec) }
    guard source === track, isTaken else { return false }
    guard let backup = track.backup else {
      track.onBackupNeeded?()
      return true
    }
    guard let other = backup.codec else { return true }
    source.detach(self)
    (source, codec) = (backup, other)
    backup.attach(self)
    return flow(in: section)
  }

  /// What of the publisher's header elements goes out, and under which id.
  private func elements(in section: NegotiatedSection) -> [UInt8: UInt8] {
    guard let own = source.orientationID, let id = section.extensionID(HeaderExtensionURI.videoOrientation) else {
      return [:]
    }
    return [own: id]
  }

  /// What the subscriber asks for (UpdateTrackSettings): off, a size or else a quality, and a frame rate, for which VP8
  /// has its temporal layers. As with LiveKit's server (`SubscribedTrack.applySettings`) a rate holds until another one
  /// is said, also where the next settings have none, and settings that pause the track change nothing else.
  func apply(_ settings: Livekit_UpdateTrackSettings) {
    let isOff = track.isVideo && settings.width == 0 && settings.quality == .off
    wish.isEnabled = !settings.disabled && !isOff
    defer { choose(at: .now) }
    guard !settings.disabled else { return }
    if settings.fps > 0 { wish.rate = settings.fps }
    if settings.width > 0 {
      wish.layer = source.layerIndex(fittingHeight: settings.height)
    } else {
      wish.layer = min(2, settings.quality.rawValue)
    }
  }

  /// Changes over to the layer that fits, which is then asked for a keyframe.
  func choose(at time: MediaTime) {
    guard let rewriter = stream?.rewriter else { return }
    guard isForwarding else {
      stream?.rewriter.select(nil)
      return
    }
    guard let best = source.bestLayer(upTo: wish.layer, at: time) else { return }
    guard rewriter.current != best.ssrc || rewriter.awaited != nil, rewriter.awaited != best.ssrc else { return }
    stream?.rewriter.select(best.ssrc)
    if track.isVideo { best.receiver.requestKeyframe() }
  }

  func requestKeyframe() {
    guard track.isVideo, let rewriter = stream?.rewriter else { return }
    let wanted = rewriter.awaited ?? rewriter.current
    source.layers.first { $0.ssrc == wanted }?.receiver.requestKeyframe()
  }

  /// The publisher has muted the track, or no longer: video goes on with a keyframe, and audio ends in silence, so that
  /// no noise stays in the decoder (LiveKit's `DownTrack.handleMute`).
  func muteChanged(at time: MediaTime) {
    stream?.silence?.cancel()
    choose(at: time)
    if track.info.muted && !track.isVideo { sendSilence(blankCadence.muting) }
  }

  /// Frame by frame, each at its time: those that came early would look as if the network were quicker than it is.
  private func sendSilence(_ count: Int) {
    guard count > 0, sendBlank(at: .now) else { return }
    let bound = LoopBound(Weak(self), on: loop)
    stream?.silence = loop.after(.milliseconds(20)) { bound.value.object?.sendSilence(count - 1) }
  }

  /// Clears the subscriber's frame before the track goes, as a LiveKit server does: with tiny frames, or silence.
  func flush() {
    for _ in 0..<blankCadence.ending { sendBlank(at: .now) }
  }

  /// - Returns: false where nothing has gone out yet, or there is nothing like it in the codec.
  @discardableResult
  private func sendBlank(at time: MediaTime) -> Bool {
    guard let payload = stream.flatMap({ BlankMedia.payload(of: $0.codec) }),
      let packet = stream?.rewriter.insert(payload, after: codec.clockRate / blankCadence.rate, at: time)
    else { return false }
    stream?.sender.sent(packet, at: time)
    send(packet)
    return true
  }

  func forward(_ packet: RTPPacket, from layer: UpLayer, at time: MediaTime) {
    guard isForwarding, let packet = stream?.isUnwrapping == true ? packet.withoutRedundancy() : packet else { return }
    if stream?.rewriter.current == nil && stream?.rewriter.awaited == nil { choose(at: time) }
    rewrite(packet, from: layer, at: time)
  }

  private func rewrite(_ packet: RTPPacket, from layer: UpLayer, at time: MediaTime) {
    if wish.rate == 0 || layer.ssrc == stream?.rewriter.current {
      stream?.rewriter.temporalLayerLimit = wish.rate == 0 ? nil : layer.rates.layer(for: wish.rate)
    }
    for outgoing in stream?.rewriter.rewrite(packet, at: time) ?? PacketBatch() {
      stream?.sender.sent(outgoing, at: time)
      send(outgoing)
    }
  }

  /// Layers are compared by their reports.
  func note(_ report: SenderReport, at time: MediaTime) { stream?.rewriter.receive(report, at: time) }

  /// How the publisher's wall clock goes, so that audio and video lie together at the subscriber's; nil before the publisher
  /// has said that, as of a LiveKit server.
  func report(at time: MediaTime) -> SenderReport? {
    guard let rewriter = stream?.rewriter, let layer = source.layers.first(where: { $0.ssrc == rewriter.current }),
      let (said, arrival) = layer.report, let timestamp = rewriter.outgoingTimestamp(said.rtpTimestamp, of: layer.ssrc)
    else { return nil }
    stream?.sender.synchronise(ntp: said.ntp, rtpTimestamp: timestamp, at: arrival)
    return stream?.sender.makeReport(at: time, ntp: .now)
  }

  func receive(_ report: RTCPPacket, at time: MediaTime) {
    guard let response = stream?.sender.receive(report, at: time) else { return }
    for packet in response.retransmissions { send(packet) }
    if response.isKeyframeRequested { requestKeyframe() }
  }
}

/// The outgoing stream of a down track.
private struct DownStream {
  var rewriter: StreamRewriter
  var sender: RTPSender
  /// As the subscriber has answered.
  var codec: Codec
  /// Whether the subscriber takes no RED, so that each packet loses what it repeats.
  let isUnwrapping: Bool
  /// Of a muted track: the next frame of it.
  var silence: LoopTimer?
}
