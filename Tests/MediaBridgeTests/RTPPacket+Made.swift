import BridgeTesting
import GStreamerKit
import MediaCore
import RTP
import Testing

extension RTPPacket {
  /// What a pipeline makes for its appsink `rtp`, from beginning to end.
  static func made(by description: String) async throws -> [RTPPacket] {
    let pipeline = try Pipeline(description: description, name: "camera")
    let packets = Collector<RTPPacket>()
    try pipeline.appSink(
      named: "rtp",
      onBuffer: { media in
        let packet = try? RTPPacket(parsing: media.withUnsafeBytes(PacketBuffer.init(copying:)))
        if let packet { packets.add(packet) }
      })
    try pipeline.start()
    try await pipeline.endOfStream(timeLimit: .seconds(30))
    #expect(await pipeline.stop())
    return packets.values
  }
}
