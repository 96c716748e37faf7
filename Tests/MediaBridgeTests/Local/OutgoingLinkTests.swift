import BridgeTesting
import GStreamerKit
import Logging
import MediaCore
import MediaPipelines
import PeerTransport
import RTP
import Testing

@testable import MediaBridge

/// What waits for its turn on the way to the server.
@Suite struct OutgoingLinkTests {
  /// One layer of video on a link without anybody at its other end.
  private struct Scene: Sendable {
    let loop: TransportLoop
    let observer: PeerObserver
    let peer: PeerConnection
    let link: OutgoingLink
    let stream: OutgoingRTP
    let layer: OutgoingLayer

    init() throws {
      loop = TransportLoop(name: "link")
      observer = PeerObserver(loop: loop, handlers: PeerObserver.Handlers())
      let configuration = PeerConfiguration(isControlling: true, logger: Logger(label: "peer"))
      peer = PeerConnection(loop: loop, configuration: configuration, delegate: observer)
      let layers = Locked<[OutgoingLayer]>([])
      link = OutgoingLink(loop: loop) { layers.withLock { $0 } }
      stream = OutgoingRTP(peer: peer, link: link, rank: 0)
      stream.negotiated(OutgoingRTP.Format(payloadType: PayloadType(96), clockRate: 90_000, rtx: nil))
      let plan = PublishPlan(
        VideoPublishOptions(simulcast: false), name: "x", size: Dimensions(width: 1280, height: 720), isScreen: false)
      let made = try OutgoingLayer(
        0, of: plan, stream: stream, factory: PipelineFactory(folder: nil), onFailure: { _ in })
      layer = made
      layers.withLock { $0 = [made] }
      link.start(through: peer)
    }

    /// Says that the link carries next to nothing, when what has gone so far makes more.
    func narrow() {
      let block = ReportBlock(
        ssrc: stream.ssrc, fractionLost: 0, cumulativeLost: 0, highestSequence: 0, jitter: 0, lastSenderReport: 0,
        delaySinceLastSenderReport: 0)
      let estimate = REMB(sender: SSRC(9), bitrate: 30_000, sources: [stream.ssrc])
      let reports: [RTCPPacket] = [
        .receiverReport(ReceiverReport(ssrc: SSRC(9), blocks: [block])), .receiverEstimate(estimate),
      ]
      link.receive(reports, at: .now + .milliseconds(600))
    }

    func stop() async {
      link.stop()
      await peer.close()
      await loop.stop()
      await layer.stop()
    }
  }

  /// As a payloader makes them.
  private func packet() throws -> MediaBuffer {
    let packet = RTPPacket(
      payloadType: PayloadType(100), sequenceNumber: SequenceNumber(7), timestamp: 9000, ssrc: SSRC(3),
      payload: [UInt8](repeating: 1, count: 1200))
    let caps = try #require(Caps("application/x-rtp"))
    return packet.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: MediaTime.now) }
  }

  /// A hole in the numbers would pass for loss, and be asked for again and again.
  @Test func whatIsDroppedBeforeItGoesHasNoNumber() async throws {
    let scene = try Scene()
    let (stream, media) = (scene.stream, try packet())
    let first = await scene.loop.call { () -> SequenceNumber? in
      let first = stream.makePacket(media, at: .now)?.packet.sequenceNumber
      for _ in 0..<20 { stream.send(media) }
      return first
    }
    try await eventually("the first packets") { stream.statistics.packetsSent == 21 }
    let sent = await scene.loop.call { () -> Int in
      for _ in 0..<200 { stream.send(media) }
      scene.narrow()
      return stream.statistics.packetsSent
    }
    #expect(sent < 121, "what waits has gone")
    let next = await scene.loop.call { stream.makePacket(media, at: .now)?.packet.sequenceNumber }
    await scene.stop()
    let (begin, end) = (try #require(first), try #require(next))
    #expect(end.distance(from: begin) == sent)
  }
}
