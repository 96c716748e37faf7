import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore
import Testing

/// Messages that this process sends into a room.
@Suite struct DataTests {
  private struct Message: Equatable {
    let from: String?
    let text: String
    let topic: String
  }

  private final class Guest: Sendable {
    let room = Room(roomOptions: RoomOptions(autoSubscribe: false))
    private let heard = Collector<RoomEvent>()

    /// Joins, and knows who else is there.
    init(_ identity: String, in synthetic: SyntheticRoom) async throws {
      let (events, heard) = (room.events, heard)
      Task { for await event in events { heard.add(event) } }
      let token = try SyntheticRoom.token(identity, VideoGrant(room: SyntheticRoom.name, roomJoin: true))
      try await room.connect(url: synthetic.url, token: token)
    }

    var messages: [Message] {
      heard.values.compactMap { event in
        guard case .dataReceived(let participant, let data, let topic) = event else { return nil }
        return Message(from: participant?.identity, text: String(decoding: data, as: UTF8.self), topic: topic)
      }
    }

    var returns: Int { heard.values.filter { if case .reconnected = $0 { true } else { false } }.count }
  }

  private func run(_ body: (SyntheticRoom, Guest, Guest) async throws -> Void) async throws {
    let synthetic = try await SyntheticRoom.start(codecs: [:])
    let (alice, bob) = (try await Guest("alice", in: synthetic), try await Guest("bob", in: synthetic))
    try await eventually("each other") { bob.room.remoteParticipants["alice"] != nil }
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await body(synthetic, alice, bob)) } catch { outcome = .failure(error) }
    for guest in [alice, bob] { await guest.room.disconnect() }
    await synthetic.stop()
    try outcome.get()
  }

  private func publish(
    _ text: String, by guest: Guest, _ options: DataPublishOptions = DataPublishOptions(reliable: true)
  ) async throws {
    try await guest.room.localParticipant.publish(data: Data(text.utf8), options: options)
  }

  @Test func theyReachTheOthersInOrder() async throws {
    try await run { _, alice, bob in
      for number in 0..<50 { try await publish("\(number)", by: alice, .init(topic: "count", reliable: true)) }
      try await eventually("all of them") { bob.messages.count == 50 }
      #expect(bob.messages == (0..<50).map { Message(from: "alice", text: "\($0)", topic: "count") })
      #expect(alice.messages.isEmpty)
    }
  }

  /// The server repeats what has a number, and drops all else.
  @Test func whoIsJustJoiningGetsThem() async throws {
    try await run { synthetic, alice, _ in
      try await publish("before", by: alice)
      let events = alice.room.events
      let greeting = Task { () async throws -> Void in
        for await case .participantConnected(let guest) in events where guest.identity == "carol" {
          return try await publish("welcome", by: alice)
        }
      }
      let carol = try await Guest("carol", in: synthetic)
      try await greeting.value
      try await publish("after", by: alice)
      try await eventually("the messages") { carol.messages.count == 2 }
      #expect(carol.messages.map(\.text) == ["welcome", "after"])
      await carol.room.disconnect()
    }
  }

  @Test func theyMayBeForOneAlone() async throws {
    try await run { synthetic, alice, bob in
      let carol = try await Guest("carol", in: synthetic)
      try await publish("for carol", by: alice, .init(destinationIdentities: ["carol"], reliable: true))
      try await publish("for all", by: alice)
      try await eventually("the messages") { carol.messages.count == 2 && bob.messages.count == 1 }
      #expect(carol.messages.map(\.text) == ["for carol", "for all"] && bob.messages.map(\.text) == ["for all"])
      await carol.room.disconnect()
    }
  }

  /// On a channel that does not send twice.
  @Test func theyMayBeLossy() async throws {
    try await run { _, alice, bob in
      try await publish("now", by: alice, .init())
      try await eventually("the message") { bob.messages == [Message(from: "alice", text: "now", topic: "")] }
    }
  }

  @Test func largeOnesArriveWhole() async throws {
    try await run { _, alice, bob in
      let text = String(repeating: "0123456789abcdef", count: LocalParticipant.maximumDataSize / 16)
      try await publish(text, by: alice)
      try await eventually("the message") { bob.messages.count == 1 }
      #expect(bob.messages.first?.text == text)
      let error = await #expect(throws: LiveKitError.self) { try await publish(text + "x", by: alice) }
      #expect(error?.code == .invalidParameter)
    }
  }

  /// LiveKit's server reads nothing of a channel any more behind a message that is longer with what is around it.
  @Test func whatIsTooLongWithWhomItIsForIsRefusedAndNothingElse() async throws {
    try await run { _, alice, bob in
      let names = ["bob"] + (0..<100).map { String(repeating: "x", count: 30) + "\($0)" }
      let text = String(repeating: "x", count: LocalParticipant.maximumDataSize)
      for reliable in [true, false] {
        let error = await #expect(throws: LiveKitError.self) {
          try await publish(text, by: alice, .init(destinationIdentities: names, reliable: reliable))
        }
        #expect(error?.code == .invalidParameter && error?.message.contains("65535") == true)
      }
      try await publish("after", by: alice)
      try await eventually("the message") { bob.messages.map(\.text) == ["after"] }
    }
  }

  /// A session that goes on, and a new one.
  @Test(arguments: [Livekit_LeaveRequest.Action.resume, .reconnect])
  func theyGoOnAfterALoss(_ action: Livekit_LeaveRequest.Action) async throws {
    try await run { synthetic, alice, bob in
      try await publish("before", by: alice)
      try await eventually("the first message") { bob.messages.count == 1 }
      var response = Livekit_SignalResponse()
      response.leave.action = action
      synthetic.server.tell(response, to: "alice")
      try await eventually("the connection", within: .seconds(20)) { alice.returns == 1 }
      try await publish("after", by: alice)
      try await eventually("the second message") { bob.messages.map(\.text) == ["before", "after"] }
    }
  }

  /// Also for the offer that was lost with it.
  @Test func theyWaitForTheConnection() async throws {
    try await run { synthetic, alice, bob in
      synthetic.server.cutSignal(of: "alice")
      try await publish("later", by: alice)
      try await eventually("the message") { bob.messages.map(\.text) == ["later"] }
    }
  }

  @Test func whoMayNotOrIsNotThereIsTold() async throws {
    try await run { synthetic, alice, _ in
      let recorder = Room()
      let data = Data("no".utf8)
      let early = await #expect(throws: LiveKitError.self) { try await recorder.localParticipant.publish(data: data) }
      #expect(early?.code == .invalidState)
      let token = try SyntheticRoom.token("recorder", .recorder(room: SyntheticRoom.name))
      try await recorder.connect(url: synthetic.url, token: token)
      let error = await #expect(throws: LiveKitError.self) { try await recorder.localParticipant.publish(data: data) }
      #expect(error?.code == .permissionDenied)
      await recorder.disconnect()
      let late = await #expect(throws: LiveKitError.self) { try await recorder.localParticipant.publish(data: data) }
      #expect(late?.code == .invalidState)
    }
  }
}
