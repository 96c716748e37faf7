import Bitstream
import BridgeTesting
import GStreamerKit
import MediaCore
import MediaPipelines
import RTP
import Testing

@testable import MediaBridge

/// A frame that came whole and cannot be decoded: no packet is missing, so that only the decoder knows.
@Suite struct BrokenFrameTests {
  /// H.264 with one keyframe, and small frames behind it, each in a packet.
  private static let camera = """
    videotestsrc num-buffers=25 pattern=ball ! video/x-raw,format=I420,width=320,height=192,framerate=25/1
    ! x264enc tune=zerolatency threads=1 key-int-max=300 pass=quant quantizer=30 option-string="scenecut=0"
    ! video/x-h264,profile=constrained-baseline ! rtph264pay pt=96 config-interval=-1 aggregate-mode=none mtu=1200
    ! appsink name=rtp sync=false
    """

  /// The same packet with a slice of a type that there is not (H.264, 7.4.3).
  private func breaking(_ packet: RTPPacket) -> RTPPacket {
    let header = packet.withPayload { $0[0] }
    return RTPPacket(
      payloadType: packet.payloadType, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp,
      ssrc: packet.ssrc, marker: packet.marker, payload: [header, 0x87] + [UInt8](repeating: 0xff, count: 20))
  }

  /// - Returns: how often a keyframe was asked for.
  private func requests(decoding packets: [RTPPacket]) async throws -> Int {
    let (first, frames, requests) = (packets[0].timestamp, Collector<Bool>(), Collector<Bool>())
    let outputs = TrackOutputs(isVideo: true, onKeyframeNeeded: {})
    let pipeline = try ReceivePipeline(
      factory: PipelineFactory(folder: nil), template: "h264", values: [:], isVideo: true,
      payloadType: PayloadType(96), to: outputs, clock: { _ in nil }, onKeyframeNeeded: { requests.add(true) })
    outputs.begin(pipeline)
    let consumer = MediaConsumer(onFailure: { _ in }, onBuffer: { _ in frames.add(true) })
    try outputs.add(consumer, to: .frames)
    await withCheckedContinuation { continuation in pipeline.whenSettled { continuation.resume() } }
    let feed = PipelineFeed(
      pipeline, startsKeyframe: { $0.withPayload(VideoCodec.h264.startsKeyframe) },
      keyframePart: { $0.withPayload(VideoCodec.h264.keyframePart) }, isRepaired: true,
      clock: { MediaTime(nanoseconds: Int64($0 &- first) * 1_000_000 / 90) })
    for packet in packets {
      feed.add(ArrivedPacket(packet.copy(), at: .now))
      feed.flush()
    }
    feed.complete()
    try await eventually("the frames") { frames.count >= 20 }
    await pipeline.stop()
    return requests.count
  }

  /// avdec_h264 tells nobody, and goes on with what is wrong.
  @Test func aKeyframeIsAskedFor() async throws {
    let whole = try await RTPPacket.made(by: Self.camera)
    let first = whole[0].timestamp
    let index = whole.firstIndex { $0.marker && $0.timestamp != first }
    let broken = try #require(index)
    let type = whole[broken].withPayload { $0[0] & 31 }
    try #require(type == 1, "a whole frame in one slice")
    let damaged = whole.enumerated().map { $0.offset == broken ? breaking($0.element) : $0.element }
    let (before, behind) = (try await requests(decoding: whole), try await requests(decoding: damaged))
    #expect(before == 0 && behind == 1)
  }
}
