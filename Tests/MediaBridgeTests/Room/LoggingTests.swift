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

  private struct Handler: LogHandler {
    let lines: Collector<Line>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      lines.add(
        Line(
          message: "\(event.message)", part: metadata["part"].map { "\($0)" }, owner: metadata["owner"].map { "\($0)" })
      )
    }
  }

  @Test func aRoomLogsWhereItIsToldTo() async throws {
    let lines = Collector<Line>()
    var logger = Logger(label: "mine") { _ in Handler(lines: lines) }
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
