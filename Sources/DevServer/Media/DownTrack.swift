import Bitstream
import LiveKitProtocol
import MediaCore
import RTP
import SDP

/// A published track on its way to one subscriber: chooses the layer, and makes one stream of them. Lives on the
/// server's loop.
final class DownTrack {
  let track: PublishedTrack
  let ssrc = SSRC(.random(in: 1...(.max - 1)))
  var mid = ""
  /// What is forwarded: the track, or the same in its other codec.
  private var source: PublishedTrack
  private var codec: Codec
  private let send: (RTPPacket) -> Void
  /// Both are there once the subscriber has answered with its payload types.
  private var stream: DownStream?
  /// Whether the subscriber takes no RED, so that each packet loses what it repeats.
  private var isUnwrapping = false
  private var wantedLayer: Int
  private var isEnabled = true
  /// Frames a second that the subscriber asks for; 0 for all.
  private var wantedRate: UInt32 = 0
  private var newest: RTPPacket?

  init(track: PublishedTrack, codec: Codec, firstLayer: Int, send: @escaping (RTPPacket) -> Void) {
    (self.track, source) = (track, track)
    wantedLayer = firstLayer
    self.codec = codec
    self.send = send
    track.attach(self)
  }

  func detach() { source.detach(self) }

  private var rtxSSRC: SSRC { SSRC(ssrc.rawValue + 1) }

  func sendingTrack(of publisher: DevParticipant) -> SendingTrack {
    let stream = "\(publisher.sid)|\(track.sid)"
    return SendingTrack(
      kind: track.isVideo ? .video : .audio, msid: MediaStreamID(stream: stream, track: track.sid),
      codecs: SubscriberFormats.codecs(of: track),
      headerExtensions: SubscriberFormats.headerExtensions(of: track), cname: stream, ssrc: ssrc,
      rtxSSRC: track.isVideo ? rtxSSRC : nil)
  }

  /// The subscriber has answered and is connected: media may flow.
  /// - Returns: false when the subscriber does not take the track's codec, nor the other one that its publisher has.
  func start(with section: NegotiatedSection) -> Bool {
    guard stream == nil else { return true }
    guard let format = SubscriberFormats.format(for: codec, in: section) else { return turnToBackup(section) }
    isUnwrapping = codec.isRED && !format.codec.isRED
    let first = SequenceNumber(.random(in: 0...(.max / 2)))
    let rewriter = StreamRewriter(
      configuration: .init(
        ssrc: ssrc, clockRate: codec.clockRate, payloadType: format.payloadType,
        codec: track.isVideo ? VideoCodec(encodingName: codec.name) : nil, firstSequenceNumber: first,
        headerExtensions: elements(in: section)))
    let retransmission = format.rtx.map {
      RTPSender.Retransmission(ssrc: rtxSSRC, payloadTypes: [format.payloadType: $0])
    }
    let sender = RTPSender(
      configuration: .init(
        ssrc: ssrc, clockRate: codec.clockRate, retransmission: retransmission, repeats: .sparing))
    stream = DownStream(rewriter: rewriter, sender: sender)
    choose(at: .now)
    requestKeyframe()
    return true
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
    return start(with: section)
  }

  /// What of the publisher's header elements goes out, and under which id.
  private func elements(in section: NegotiatedSection) -> [UInt8: UInt8] {
    guard let own = source.orientationID, let id = section.extensionID(HeaderExtensionURI.videoOrientation) else {
      return [:]
    }
    return [own: id]
  }

  /// What the subscriber asks for (UpdateTrackSettings): off, a size or else a quality, and a frame rate, for which VP8
  /// has its temporal layers.
  func apply(_ settings: Livekit_UpdateTrackSettings) {
    isEnabled = !settings.disabled
    wantedRate = settings.fps
    if settings.width > 0 {
      wantedLayer = source.layerIndex(fittingHeight: settings.height)
    } else {
      wantedLayer = min(2, settings.quality.rawValue)
    }
    choose(at: .now)
  }

  /// Changes over to the layer that fits, which is then asked for a keyframe.
  func choose(at time: MediaTime) {
    guard let rewriter = stream?.rewriter else { return }
    guard isEnabled else {
      stream?.rewriter.select(nil)
      return
    }
    guard let best = source.bestLayer(upTo: wantedLayer, at: time) else { return }
    guard rewriter.current != best.ssrc || rewriter.awaited != nil, rewriter.awaited != best.ssrc else { return }
    stream?.rewriter.select(best.ssrc)
    if track.isVideo { best.receiver.requestKeyframe() }
  }

  func requestKeyframe() {
    guard track.isVideo, let rewriter = stream?.rewriter else { return }
    let wanted = rewriter.awaited ?? rewriter.current
    source.layers.first { $0.ssrc == wanted }?.receiver.requestKeyframe()
  }

  /// Clears the subscriber's frame before the track goes, as a LiveKit server does: with tiny frames, or silence.
  func flush() {
    guard let last = newest, let payload = BlankMedia.payload(of: codec) else { return }
    for number in 1...BlankMedia.count {
      let packet = RTPPacket(
        payloadType: last.payloadType,
        sequenceNumber: last.sequenceNumber + number,
        timestamp: last.timestamp &+ UInt32(number) * codec.clockRate / 30, ssrc: ssrc, marker: true, payload: payload)
      send(packet)
    }
    newest = nil
  }

  func forward(_ packet: RTPPacket, from layer: UpLayer, at time: MediaTime) {
    guard isEnabled, let packet = isUnwrapping ? packet.withoutRedundancy() : packet else { return }
    if stream?.rewriter.current == nil && stream?.rewriter.awaited == nil { choose(at: time) }
    if wantedRate == 0 || layer.ssrc == stream?.rewriter.current {
      stream?.rewriter.temporalLayerLimit = wantedRate == 0 ? nil : layer.rates.layer(for: wantedRate)
    }
    for outgoing in stream?.rewriter.rewrite(packet, at: time) ?? PacketBatch() {
      stream?.sender.sent(outgoing, at: time)
      if newest.map({ outgoing.sequenceNumber.isAfter($0.sequenceNumber) }) ?? true { newest = outgoing }
      send(outgoing)
    }
  }

  /// Hands on how the publisher's wall clock goes, so that audio and video lie together at the subscriber's.
  func forward(_ report: SenderReport, from layer: UpLayer, at time: MediaTime) {
    stream?.rewriter.receive(report, at: time)
    guard let timestamp = stream?.rewriter.outgoingTimestamp(report.rtpTimestamp, of: layer.ssrc) else { return }
    stream?.sender.synchronise(ntp: report.ntp, rtpTimestamp: timestamp, at: time)
  }

  /// The sender reports that are due.
  func poll(at time: MediaTime) -> [RTCPPacket] { stream?.sender.poll(at: time, ntp: .now) ?? [] }

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
}
