import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PeerTransport
import RTP
import SDP

/// One published track on its way to the server.
protocol OutgoingStream: AnyObject, Sendable {
  func sendingTrack(cid: String) -> SendingTrack
  func negotiated(_ section: NegotiatedSection)
  func start() throws(LiveKitError)
  func stop() async
  /// Takes what the server reports of any stream of the connection, and does what it asks for.
  func receive(_ report: RTCPPacket, at time: MediaTime)
}

/// The RTP that one capture template makes, on its way to the server.
final class CaptureStream: OutgoingStream {
  private struct State {
    var sender: RTPSender
    var payloadType: PayloadType?
    var pipeline: Pipeline?
    var sink: AppSink?
  }

  let ssrc = SSRC(.random(in: 1...(.max - 1)))
  private let options: CaptureOptions
  private let factory: PipelineFactory
  private let peer: PeerConnection
  private let state: Locked<State>

  init(_ options: CaptureOptions, factory: PipelineFactory, peer: PeerConnection) {
    self.options = options
    self.factory = factory
    self.peer = peer
    let clockRate: UInt32 = options.kind == .video ? 90_000 : 48_000
    state = Locked(
      State(sender: RTPSender(configuration: .init(ssrc: ssrc, clockRate: clockRate, cname: "mediabridge"))))
  }

  private var rtxSSRC: SSRC { SSRC(ssrc.rawValue + 1) }

  func sendingTrack(cid: String) -> SendingTrack {
    let isVideo = options.kind == .video
    let codecs = isVideo ? CodecCatalogue.video(named: options.codec) : CodecCatalogue.opus
    return SendingTrack(
      kind: isVideo ? .video : .audio, msid: MediaStreamID(stream: "capture", track: cid), codecs: codecs,
      headerExtensions: CodecCatalogue.extensions([HeaderExtensionURI.mid]), cname: "mediabridge", ssrc: ssrc,
      rtxSSRC: isVideo ? rtxSSRC : nil)
  }

  func negotiated(_ section: NegotiatedSection) {
    guard let format = section.formats.first else { return }
    let retransmission = format.rtx.map {
      RTPSender.Retransmission(ssrc: rtxSSRC, payloadTypes: [format.payloadType: $0])
    }
    let sender = RTPSender(
      configuration: .init(
        ssrc: ssrc, clockRate: format.codec.clockRate, retransmission: retransmission, cname: "mediabridge"))
    state.withLock { state in
      state.payloadType = format.payloadType
      state.sender = sender
    }
  }

  func start() throws(LiveKitError) { try LiveKitError.wrapping(startPipeline) }

  private func startPipeline() throws(PipelineFailure) {
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

  func receive(_ report: RTCPPacket, at time: MediaTime) {
    let response = state.withLock { $0.sender.receive(report, at: time) }
    for packet in response.retransmissions { peer.send(packet) }
    if response.isKeyframeRequested { requestKeyframe() }
  }

  /// Called on the capture pipeline's thread with one RTP packet.
  private func send(_ media: MediaBuffer) {
    let parsed = media.withUnsafeBytes { try? RTPPacket(parsing: PacketBuffer(copying: $0)) }
    guard var packet = parsed else { return }
    let (ssrc, time, ntp) = (ssrc, MediaTime.now, NTPTime.now)
    // The buffer's time is the moment of capture: audio and video share that clock, however long encoding took.
    let captured = media.pts
    let reports = state.withLock { state -> [RTCPPacket]? in
      guard let payloadType = state.payloadType else { return nil }
      packet.rewrite(payloadType: payloadType, ssrc: ssrc)
      state.sender.sent(packet, at: time, captured: captured)
      return state.sender.poll(at: time, ntp: ntp)
    }
    guard let reports else { return }
    peer.send(packet)
    peer.send(reports)
  }
}

extension CodecCatalogue {
  /// The codecs that capture templates encode to.
  static func video(named name: String) -> [Codec] {
    switch name.uppercased() {
    case "VP9": vp9()
    case "H264": h264()
    case "H265": h265()
    default: vp8()
    }
  }
}
