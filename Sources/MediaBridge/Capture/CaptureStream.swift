import GStreamerKit
import MediaCore
import PeerTransport
import RTP
import SDP

/// The RTP that one capture template makes, on its way to the server.
final class CaptureStream: Sendable {
  private struct State {
    var sender: RTPSender
    var payloadType: PayloadType?
    var pipeline: Pipeline?
    var sink: AppSink?
    var lastReport: MediaTime?
  }

  let ssrc = SSRC(.random(in: 1...(.max - 1)))
  private let options: CaptureOptions
  private let factory: PipelineFactory
  private let peer: PeerConnection
  private let state: Locked<State>
  private static let reportInterval = Duration.milliseconds(500)

  init(_ options: CaptureOptions, factory: PipelineFactory, peer: PeerConnection) {
    self.options = options
    self.factory = factory
    self.peer = peer
    state = Locked(
      State(sender: RTPSender(ssrc: ssrc, retransmission: nil, firstRetransmission: .random(in: 0...(.max)))))
  }

  private var rtxSSRC: SSRC { SSRC(ssrc.rawValue + 1) }

  func sendingTrack(cid: String) -> SendingTrack {
    let codecs =
      switch options.codec.uppercased() {
      case "VP8": CodecCatalogue.vp8()
      case "VP9": CodecCatalogue.vp9()
      case "H264": CodecCatalogue.h264()
      default: CodecCatalogue.opus
      }
    let isVideo = options.kind == .video
    return SendingTrack(
      kind: isVideo ? .video : .audio, msid: MediaStreamID(stream: "capture", track: cid), codecs: codecs,
      headerExtensions: CodecCatalogue.extensions([HeaderExtensionURI.mid]), cname: "mediabridge", ssrc: ssrc,
      rtxSSRC: isVideo ? rtxSSRC : nil)
  }

  func negotiated(_ section: NegotiatedSection) {
    guard let format = section.formats.first else { return }
    let retransmission = format.rtx.map { RTPSender.Retransmission(ssrc: rtxSSRC, payloadType: $0) }
    state.withLock { state in
      state.payloadType = format.payloadType
      state.sender.retransmission = retransmission
    }
  }

  func start() throws(LiveKitError) {
    let made = try factory.make(.capture, options.template, values: options.values)
    let name = options.kind == .video ? "video" : "audio"
    let sink = try made.sink(name) { [weak self] media in self?.send(media) }
    state.withLock { state in
      state.pipeline = made.pipeline
      state.sink = sink
    }
    try made.start()
  }

  func stop() async {
    let pipeline = state.withLock { state in
      defer { state.pipeline = nil }
      return state.pipeline
    }
    await pipeline?.stop()
  }

  func requestKeyframe() { _ = state.withLock { $0.sink }?.requestKeyframe() }

  func answer(_ nack: NegativeAcknowledgement) {
    for packet in state.withLock({ $0.sender.answer(nack) }) { peer.send(packet) }
  }

  /// Called on the capture pipeline's thread with one RTP packet.
  private func send(_ media: MediaBuffer) {
    let parsed = media.withUnsafeBytes { try? RTPPacket(parsing: PacketBuffer(copying: $0)) }
    guard var packet = parsed else { return }
    let (ssrc, time) = (ssrc, MediaTime.now)
    let report = state.withLock { state -> SenderReport? in
      guard let payloadType = state.payloadType else { return nil }
      packet.rewrite(payloadType: payloadType, ssrc: ssrc)
      state.sender.sent(packet)
      guard state.lastReport.map({ time - $0 >= Self.reportInterval }) ?? true else { return nil }
      state.lastReport = time
      // The packet left its encoder just now; sound and pictures have the same clock, so this is how they lie together.
      let captured = media.pts.map { time - $0 } ?? .zero
      return state.sender.report(ntp: .now(minus: captured), rtpTimestamp: packet.timestamp)
    }
    peer.send(packet)
    if let report { peer.send([.senderReport(report)]) }
  }
}

extension NTPTime {
  /// The wall clock, `delay` ago.
  static func now(minus delay: Duration) -> NTPTime {
    let now = NTPTime.now
    let shift = UInt64(clamping: delay.nanoseconds) &* (1 << 32) / 1_000_000_000
    return NTPTime(rawValue: delay < .seconds(4) ? now.rawValue &- shift : now.rawValue)
  }
}
