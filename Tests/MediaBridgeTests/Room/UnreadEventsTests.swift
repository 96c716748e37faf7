import BridgeTesting
import Logging
import Testing

@testable import MediaBridge

/// Who makes a stream of events and does not read it.
@Suite struct UnreadEventsTests {
  @Test func theNewestAreKeptAndTheLogSaysSo() async throws {
    let lines = Collector<String>()
    let logger = Logger(label: "mine", keeping: lines, .warning) { event, _ in "\(event.message)" }
    let room = Room(roomOptions: RoomOptions(logger: logger))
    let (unread, most) = (room.events, RoomNotifier.limit)
    for number in 0..<most + 3 { room.tell(.roomMetadataChanged("\(number)")) }
    let last = room.events
    room.ended(nil)
    // It ends once all is told.
    for await _ in last {}
    var told: [RoomEvent] = []
    for await event in unread { told.append(event) }
    #expect(told.count == most)
    // Two are told of the end.
    guard case .roomMetadataChanged("5")? = told.first else {
      Issue.record("\(String(describing: told.first))")
      return
    }
    #expect(lines.values.first?.contains("is not read") == true, "\(lines.values)")
  }
}
