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
    var pipeline: Pipeline?
    var sink: AppSink?
  }

  private let options: CaptureOptions
  private let factory: PipelineFactory
  private let stream: OutgoingRTP
  private let state = Locked(State())

  init(_ options: CaptureOptions, factory: PipelineFactory, peer: PeerConnection) {
    self.options = options
    self.factory = factory
    stream = OutgoingRTP(peer: peer)
  }

  func sendingTrack(cid: String) -> SendingTrack {
    let isVideo = options.kind == .video
    let codecs = isVideo ? CodecCatalogue.video(named: options.codec) : CodecCatalogue.opus
    return SendingTrack(
      kind: isVideo ? .video : .audio, msid: MediaStreamID(stream: "capture", track: cid), codecs: codecs,
      headerExtensions: CodecCatalogue.extensions([HeaderExtensionURI.mid]), cname: OutgoingRTP.cname,
      ssrc: stream.ssrc, rtxSSRC: isVideo ? stream.rtxSSRC : nil)
  }

  func negotiated(_ section: NegotiatedSection) {
    guard let format = section.formats.first else { return }
    stream.negotiated(
      OutgoingRTP.Format(payloadType: format.payloadType, clockRate: format.codec.clockRate, rtx: format.rtx))
  }

  func start() throws(LiveKitError) { try LiveKitError.wrapping(startPipeline) }

  private func startPipeline() throws(PipelineFailure) {
    let made = try factory.make(.capture, options.template, values: options.values)
    let name = options.kind == .video ? "video" : "audio"
    let sink = try made.sink(name) { [stream] in stream.send($0) }
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

  func receive(_ report: RTCPPacket, at time: MediaTime) {
    if stream.receive(report, at: time) { _ = state.withLock { $0.sink }?.requestKeyframe() }
  }
}
