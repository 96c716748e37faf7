import LiveKitProtocol
import MediaCore
import RTP
import SDP

/// A published track on its way to one subscriber: chooses the layer, and makes one stream of them. Lives on the
/// server's loop.
final class DownTrack {
  let track: PublishedTrack
  let ssrc = SSRC(.random(in: 1...(.max)))
  var mid = ""
  private let codec: Codec
  private let send: (RTPPacket) -> Void
  private var sender: RTPSender
  private var rewriter: StreamRewriter
  private var payloadType: PayloadType?
  private var wantedLayer = 2
  private var isEnabled = true
  private var newestReport: (ntp: NTPTime, timestamp: UInt32)?
  private var lastReportSent: MediaTime?

  init(track: PublishedTrack, codec: Codec, send: @escaping (RTPPacket) -> Void) {
    self.track = track
    self.codec = codec
    self.send = send
    sender = RTPSender(ssrc: ssrc, retransmission: nil, firstRetransmission: .random(in: 0...(.max)))
    rewriter = StreamRewriter(clockRate: codec.clockRate)
  }

  func sendingTrack(of publisher: DevParticipant) -> SendingTrack {
    let codecs =
      switch codec.name.uppercased() {
      case "VP8": CodecCatalogue.vp8()
      case "VP9": CodecCatalogue.vp9()
      case "H264": CodecCatalogue.h264(profileLevelID: codec.parameter("profile-level-id") ?? "42e01f")
      default: CodecCatalogue.opus
      }
    let rtx = track.isVideo ? SSRC(ssrc.rawValue &+ 1) : nil
    return SendingTrack(
      kind: track.isVideo ? .video : .audio, msid: MediaStreamID(stream: "\(publisher.sid)|\(track.sid)", track: track.sid),
      codecs: codecs, headerExtensions: CodecCatalogue.extensions([HeaderExtensionURI.mid]), cname: publisher.sid,
      ssrc: ssrc, rtxSSRC: rtx)
  }

  /// The subscriber has answered: media may flow.
  func start(with section: NegotiatedSection) {
    guard payloadType == nil, let format = section.formats.first else { return }
    payloadType = format.payloadType
    sender.retransmission = format.rtx.map { .init(ssrc: SSRC(ssrc.rawValue &+ 1), payloadType: $0) }
    requestKeyframe()
  }

  /// What the subscriber asks for (UpdateTrackSettings): off, a size, or else a quality.
  func apply(_ settings: Livekit_UpdateTrackSettings) {
    let wasEnabled = isEnabled
    isEnabled = !settings.disabled
    if settings.width > 0 && settings.height > 0 {
      wantedLayer = track.layerIndex(fitting: settings.width, settings.height)
    } else {
      wantedLayer = min(2, settings.quality.rawValue)
    }
    if isEnabled && !wasEnabled { requestKeyframe() }
  }

  func requestKeyframe() {
    guard track.isVideo else { return }
    let now = MediaTime.now
    let current = track.layers.first { $0.ssrc == rewriter.currentSource }
    (current ?? track.bestLayer(upTo: wantedLayer, at: now))?.receiver.requestKeyframe()
  }

  func forward(_ packet: RTPPacket, from layer: UpLayer, at time: MediaTime) {
    guard isEnabled, let payloadType else { return }
    let isSwitch = mayStart(packet, layer, at: time)
    // Padding has no place in the outgoing stream: only what carries media gets a number there.
    guard let (sequence, timestamp) = rewriter.rewrite(packet, isSwitch: isSwitch, at: time) else { return }
    let outgoing = packet.withPayload { payload in
      RTPPacket(
        payloadType: payloadType, sequenceNumber: sequence, timestamp: timestamp, ssrc: ssrc, marker: packet.marker,
        payload: payload)
    }
    sender.sent(outgoing)
    send(outgoing)
  }

  /// True when this packet begins a keyframe of the layer that is to be shown and is not shown yet.
  private func mayStart(_ packet: RTPPacket, _ layer: UpLayer, at time: MediaTime) -> Bool {
    guard rewriter.currentSource != layer.ssrc else { return false }
    guard track.isVideo else { return true }
    guard let best = track.bestLayer(upTo: wantedLayer, at: time), best === layer else { return false }
    if packet.withPayload({ KeyframeDetector.isKeyframe($0, codec: codec.name) }) { return true }
    layer.receiver.requestKeyframe()
    return false
  }

  func forward(_ report: SenderReport, from layer: UpLayer) {
    guard let timestamp = rewriter.timestamp(report.rtpTimestamp, of: layer.ssrc) else { return }
    newestReport = (report.ntp, timestamp)
    lastReportSent = nil
  }

  /// The publisher's newest report in terms of the outgoing stream, once each.
  func report(at time: MediaTime) -> RTCPPacket? {
    guard let newestReport, lastReportSent == nil else { return nil }
    lastReportSent = time
    return .senderReport(sender.report(ntp: newestReport.ntp, rtpTimestamp: newestReport.timestamp))
  }

  func answer(_ nack: NegativeAcknowledgement, at time: MediaTime) {
    for packet in sender.answer(nack) { send(packet) }
  }
}
