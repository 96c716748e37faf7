import BridgeTesting
import LiveKitProtocol
import MediaCore
import Testing

/// What comes of a track that its publisher has muted.
@Suite(.serialized) struct MuteTests {
  private static let silence: [UInt8] = [0xf8, 0xff, 0xfe]

  private struct Scene {
    let alice: RoomClient
    let bob: RoomClient
    let cid: String
    let sid: String

    var packets: [ReceivedPacket] { bob.packets(of: sid) }

    func setMuted(_ isMuted: Bool) async throws {
      alice.send { request in
        request.mute.sid = sid
        request.mute.muted = isMuted
      }
      try await bob.wait { $0.participants["alice"]?.tracks.first?.muted == isMuted }
    }

    /// Waits until so many frames have been made.
    func publishes(_ count: Int) async throws {
      let before = await alice.with(cid) { $0.newestNumber } ?? 0
      try await eventually {
        let made = await alice.with(cid) { $0.newestNumber } ?? 0
        return made > before + count
      }
    }
  }

  private func run(_ publication: Publication.Description, _ body: (Scene) async throws -> Void) async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob")
      try await bob.wait { $0.channels.count == 2 }
      let sid = try await alice.publish(publication)
      try await eventually { bob.packets(of: sid).count > 10 }
      try await body(Scene(alice: alice, bob: bob, cid: publication.cid, sid: sid))
    }
  }

  /// Nobody waits for a packet that does not come, and none has the time of an earlier one.
  private func expectOneStream(_ packets: [ReceivedPacket]) {
    let sorted = packets.sorted { $0.sequence < $1.sequence }
    for (earlier, later) in zip(sorted, sorted.dropFirst()) {
      #expect(later.sequence == earlier.sequence + 1)
      #expect(Int32(bitPattern: later.timestamp &- earlier.timestamp) > 0)
    }
  }

  @Test func aMutedCameraIsNotForwardedAndGoesOnWithAKeyframe() async throws {
    try await run(.video("camera")) { scene in
      try await scene.setMuted(true)
      try await scene.publishes(5)
      let muted = scene.packets
      try await scene.publishes(20)
      #expect(scene.packets.count == muted.count)
      let requests = await scene.alice.with("camera") { $0.keyframeRequests[0] ?? 0 } ?? 0
      try await scene.setMuted(false)
      try await eventually { scene.packets.count > muted.count + 10 }
      let packets = scene.packets
      #expect(packets[muted.count].isKeyframe)
      let asked = await scene.alice.with("camera") { $0.keyframeRequests[0] ?? 0 } ?? 0
      #expect(asked > requests)
      expectOneStream(packets)
    }
  }

  /// As LiveKit's server does it, lest noise stays in the decoder.
  @Test func aMutedMicrophoneEndsInASecondOfSilence() async throws {
    try await run(.audio("voice")) { scene in
      try await scene.setMuted(true)
      try await eventually { scene.packets.suffix(50).allSatisfy { $0.payload == Self.silence } }
      try await scene.publishes(10)
      #expect(scene.packets.count { $0.payload == Self.silence } == 50)
      try await scene.setMuted(false)
      try await eventually { scene.packets.suffix(10).allSatisfy { $0.payload != Self.silence } }
      expectOneStream(scene.packets)
    }
  }

  @Test func aMicrophoneThatIsSoonUnmutedIsSilentNoLonger() async throws {
    try await run(.audio("voice")) { scene in
      try await scene.setMuted(true)
      try await eventually { scene.packets.last?.payload == Self.silence }
      try await scene.setMuted(false)
      try await eventually { scene.packets.suffix(60).allSatisfy { $0.payload != Self.silence } }
      #expect(scene.packets.count { $0.payload == Self.silence } < 50)
      expectOneStream(scene.packets)
    }
  }

  @Test func whoMutesAnUnknownTrackIsTold() async throws {
    try await RunningServer.with { server in
      try await Onlooker.with(server, as: "alice") { alice in
        alice.send { ($0.mute.sid, $0.mute.muted) = ("TR_nobody", true) }
        try await alice.wait { if case .requestResponse(let answer) = $0 { answer.reason == .notFound } else { false } }
      }
    }
  }
}
