import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaCore
import PeerTransport
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
      #expect(joined.clientProtocol == 2 && joined.capabilities == [.capCompressionDeflateRaw])
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

  /// As one whose machine sleeps: its socket says nothing of that.
  @Test func whoseMediaIsLostIsGone() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob")
      try await alice.wait { $0.channels.count == 2 }
      await alice.subscriber.close()
      try await eventually("its end", within: .seconds(60)) {
        bob.log.withLock { $0.participants["alice"]?.state == .disconnected }
      }
      #expect(alice.log.withLock { $0.isClosed })
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

  /// Also of a recorder whom they do not see.
  @Test func whoIsInARoomHearsThatItIsRecorded() async throws {
    try await RunningServer.with { server in
      try await Onlooker.with(server, as: "alice") { alice in
        try await Onlooker.with(server, as: "recorder", grant: { ($0.hidden, $0.recorder) = (true, true) }) {
          recorder in
          #expect(recorder.responses.values.first?.join.room.activeRecording == true)
          try await eventually { alice.recordings == [true] }
          recorder.send { $0.leave.reason = .clientInitiated }
          try await eventually { alice.recordings == [true, false] }
        }
      }
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

  @Test func whoIsHiddenIsNotNamedByItsMessages() async throws {
    try await RunningServer.with { server in
      let bob = try await RoomClient.join(server, as: "bob")
      try await bob.wait { $0.channels.count == 2 }
      let ghost = try await RoomClient.join(server, as: "ghost") { $0.hidden = true }
      try await ghost.sendMessage("boo")
      let message = try await bob.wait { $0.messages.first }
      #expect(message.participantIdentity.isEmpty)
      #expect(message.user.participantIdentity.isEmpty && message.user.participantSid.isEmpty)
    }
  }

  /// LiveKit's server reads no more than 65,535 bytes of one; what is sent behind it comes.
  @Test func aMessageThatIsTooLongIsLeftOut() async throws {
    try await RunningServer.with { server in
      let bob = try await RoomClient.join(server, as: "bob")
      let alice = try await RoomClient.join(server, as: "alice")
      try await bob.wait { $0.channels.count == 2 }
      let long = String(repeating: "x", count: 60_000)
      try await alice.sendMessage(long)
      try await alice.sendMessage(String(repeating: "y", count: 70_000))
      try await alice.sendMessage("after")
      try await bob.wait { $0.messages.count == 2 }
      #expect(bob.texts == [long, "after"])
    }
  }

  @Test func ofSpeakersHearsWhoIsSentSomethingOfThem() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let witness = try await RoomClient.join(server, as: "witness")
      let sid = try await alice.publish(.audio("voice"))
      try await eventually { witness.packets(of: sid).count > 2 }
      try await Onlooker.with(server, as: "bob") { bob in
        try await Onlooker.with(server, as: "carol", autoSubscribe: false) { carol in
          _ = await alice.with("voice") { $0.level = 10 }
          try await eventually { bob.speakers.count { $0.active } > 1 }
          bob.send { request in
            request.subscription.trackSids = [sid]
            request.subscription.subscribe = false
          }
          try await eventually { bob.speakers.last?.active == false }
          #expect(Set(bob.speakers.map(\.sid)) == [alice.log.withLock { $0.join?.participant.sid ?? "" }])
          #expect(carol.speakers.isEmpty)
        }
      }
    }
  }

  /// Recordings by the server's own egress would end otherwise: nobody there can ask for permission.
  @Test func whoRecordsNeedsNoPermissionOfAPublisher() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let recorder = try await RoomClient.join(server, as: "recorder") { ($0.hidden, $0.recorder) = (true, true) }
      let bob = try await RoomClient.join(server, as: "bob")
      for client in [recorder, bob] { try await client.wait { $0.channels.count == 2 } }
      alice.send { $0.subscriptionPermission.allParticipants = false }
      let sid = try await alice.publish(.video("camera"))
      try await eventually { recorder.packets(of: sid).count > 10 }
      try await bob.wait { $0.participants["alice"]?.tracks.count == 1 }
      #expect(bob.log.withLock { $0.sources.isEmpty })
    }
  }

  /// Whose transports are still to be closed may send on them.
  @Test func nothingComesOfWhoIsGone() async throws {
    try await RunningServer.with { server in
      let bob = try await RoomClient.join(server, as: "bob")
      try await bob.wait { $0.channels.count == 2 }
      for _ in 0..<3 {
        let alice = try await RoomClient.join(server, as: "alice")
        _ = try await alice.publish(.audio("voice"))
        _ = await alice.with("voice") { $0.level = 10 }
        server.server.removeParticipant("alice")
        try await alice.wait { $0.isClosed }
        try await bob.wait { $0.participants["alice"]?.state == .disconnected && $0.sources.isEmpty }
      }
      let carol = try await RoomClient.join(server, as: "carol")
      try await bob.wait { $0.participants["carol"]?.state == .active }
      #expect(carol.log.withLock { $0.join?.otherParticipants.map(\.identity) } == ["bob"])
      #expect(bob.log.withLock { $0.participants["alice"]?.state == .disconnected && $0.sources.isEmpty })
    }
  }

  @Test(arguments: [
    ("ingress", Livekit_ParticipantInfo.Kind.ingress), ("egress", .egress), ("sip", .sip), ("agent", .agent),
    ("something", .standard),
  ])
  func theKindIsThatOfTheToken(name: String, kind: Livekit_ParticipantInfo.Kind) async throws {
    try await RunningServer.with { server in
      let grant = VideoGrant(room: "room", roomJoin: true)
      var token = AccessToken(apiKey: "key", identity: "alice", grant: grant, validFor: 60, now: Date())
      token.kind = name
      try await Onlooker.with(server, token: token.signed(secret: "a secret")) { alice in
        try await alice.wait { if case .join(let join) = $0 { join.participant.kind == kind } else { false } }
      }
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
