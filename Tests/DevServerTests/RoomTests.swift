import BridgeTesting
import LiveKitProtocol
import MediaCore
import SDP
import Testing

/// Who hears of whom, and when.
@Suite(.serialized) struct RoomTests {
  @Test func othersHearOfAParticipant() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      try await alice.wait { $0.channels.count == 2 }
      #expect(Set(alice.log.withLock { $0.channels.map(\.label) }) == ["_reliable", "_lossy"])
      let bob = try await RoomClient.join(server, as: "bob")
      #expect(bob.log.withLock { $0.join?.otherParticipants.map(\.identity) } == ["alice"])
      #expect(bob.log.withLock { $0.join?.subscriberPrimary } == true)
      try await alice.wait { $0.participants["bob"]?.state == .active }
      let joined = try await alice.wait { $0.participants["bob"] }
      #expect(joined.sid.hasPrefix("PA_") && joined.permission.canPublish && !joined.isPublisher)
      await bob.leave()
      let left = try await alice.wait { $0.participants["bob"].flatMap { $0.state == .disconnected ? $0 : nil } }
      #expect(left.version > joined.version && left.disconnectReason == .clientInitiated)
    }
  }

  @Test func aCrashedClientIsGoneToo() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob")
      try await alice.wait { $0.participants["bob"]?.state == .active }
      await bob.close()
      try await alice.wait { $0.participants["bob"]?.state == .disconnected }
    }
  }

  @Test func theSameIdentityTakesThePlace() async throws {
    try await RunningServer.with { server in
      let watcher = try await RoomClient.join(server, as: "watcher")
      let first = try await RoomClient.join(server, as: "alice")
      let firstSid = try await watcher.wait { $0.participants["alice"]?.sid }
      let second = try await RoomClient.join(server, as: "alice")
      let leave = try await first.wait { $0.leave }
      #expect(leave.reason == .duplicateIdentity && leave.action == .disconnect)
      try await first.wait { $0.isClosed }
      #expect(second.log.withLock { $0.join?.otherParticipants.map(\.identity) } == ["watcher"])
      try await watcher.wait { $0.participants["alice"].map { $0.state == .active && $0.sid != firstSid } ?? false }
    }
  }

  @Test func whoIsSentAwayHearsWhyAndIsGone() async throws {
    try await RunningServer.with { server in
      let (alice, bob) = (
        try await RoomClient.join(server, as: "alice"), try await RoomClient.join(server, as: "bob")
      )
      let carol = try await RoomClient.join(server, as: "carol", room: "another")
      server.server.removeParticipant("alice")
      let leave = try await alice.wait { $0.leave }
      #expect(leave.reason == .participantRemoved && leave.action == .disconnect)
      let gone = try await bob.wait { $0.participants["alice"].flatMap { $0.state == .disconnected ? $0 : nil } }
      #expect(gone.disconnectReason == .participantRemoved)
      server.server.deleteRoom("room")
      #expect(try await bob.wait { $0.leave }.reason == .roomDeleted)
      for client in [alice, bob] { try await client.wait { $0.isClosed } }
      #expect(carol.log.withLock { $0.leave == nil && !$0.isClosed })
    }
  }

  @Test func aHiddenParticipantIsNotSeen() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let recorder = try await RoomClient.join(server, as: "recorder") { $0.hidden = true }
      try await recorder.wait { $0.channels.count == 2 }
      let bob = try await RoomClient.join(server, as: "bob")
      try await alice.wait { $0.participants["bob"]?.state == .active }
      #expect(alice.log.withLock { $0.participants["recorder"] } == nil)
      #expect(bob.log.withLock { $0.join?.otherParticipants.map(\.identity) } == ["alice"])
      #expect(bob.log.withLock { $0.join?.room.numParticipants } == 2)
    }
  }

  @Test func roomsAreApart() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice", room: "one")
      let bob = try await RoomClient.join(server, as: "bob", room: "two")
      #expect(bob.log.withLock { $0.join?.otherParticipants.isEmpty } == true)
      _ = try await alice.publish(.audio("voice"))
      _ = try await RoomClient.join(server, as: "carol", room: "two")
      try await bob.wait { $0.participants["carol"]?.state == .active }
      #expect(bob.log.withLock { $0.participants["alice"] } == nil)
    }
  }

  @Test func messagesReachTheOthersOrTheOneMeant() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob")
      let carol = try await RoomClient.join(server, as: "carol")
      for client in [bob, carol] { try await client.wait { $0.channels.count == 2 } }
      try await alice.sendMessage("to all")
      try await alice.sendMessage("to carol", destination: "carol")
      try await alice.sendMessage("to all again")
      try await carol.wait { $0.messages.count == 3 }
      try await bob.wait { $0.messages.count == 2 }
      #expect(bob.texts == ["to all", "to all again"] && carol.texts == ["to all", "to carol", "to all again"])
      let message = try #require(bob.log.withLock { $0.messages.first })
      #expect(message.participantIdentity == "alice" && message.user.topic == "chat")
      #expect(message.participantSid == alice.log.withLock { $0.join?.participant.sid })
    }
  }

  @Test func aStoppedServerSaysSo() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      await server.server.stop()
      let leave = try await alice.wait { $0.leave }
      #expect(leave.reason == .serverShutdown)
      try await alice.wait { $0.isClosed }
    }
  }

  @Test func nothingIsLeft() async throws {
    func visit() async throws {
      try await RunningServer.with { server in
        let alice = try await RoomClient.join(server, as: "alice")
        let bob = try await RoomClient.join(server, as: "bob")
        let sid = try await alice.publish(.video("camera"))
        try await eventually { bob.packets(of: sid).count > 2 }
        await alice.leave()
        await bob.leave()
      }
    }
    try await visit()
    let before = Footprint.current
    for _ in 0..<5 { try await visit() }
    try await eventually { Footprint.current.descriptors <= before.descriptors }
    try await eventually { Footprint.current.threads <= before.threads }
  }
}
