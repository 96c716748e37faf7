import BridgeTesting
import Logging
import MediaBridge
import Testing

/// A program may take what a room logs into a logger of its own.
@Suite struct LoggingTests {
  private struct Line: Sendable {
    let message: String
    let part: String?
    let owner: String?
  }

  @Test func aRoomLogsWhereItIsToldTo() async throws {
    let lines = Collector<Line>()
    var logger = Logger(label: "mine", keeping: lines, .debug) { event, metadata in
      Line(
        message: "\(event.message)", part: metadata["part"].map { "\($0)" }, owner: metadata["owner"].map { "\($0)" })
    }
    logger[metadataKey: "owner"] = "program"
    let synthetic = try await SyntheticRoom.start(codecs: [:])
    let room = Room(roomOptions: RoomOptions(audioPlayback: .off, logger: logger))
    try await room.connect(url: synthetic.url, token: try SyntheticRoom.token("watcher"))
    await room.disconnect()
    await synthetic.stop()
    #expect(lines.values.contains { $0.message == "joined" && $0.part == "room" })
    #expect(lines.values.contains { $0.part == "transport" })
    #expect(lines.values.allSatisfy { $0.owner == "program" })
  }
}
