import BridgeTesting
import LiveKitProtocol
import MediaBridge
import Testing

/// Whether this participant speaks, which a server says when it begins and when it ends.
@Suite struct OwnSpeechTests {
  private func speak(_ room: Room, in synthetic: SyntheticRoom) async throws {
    var response = Livekit_SignalResponse()
    var speaker = Livekit_SpeakerInfo()
    (speaker.sid, speaker.level, speaker.active) = (room.localParticipant.sid, 0.5, true)
    response.speakersChanged.speakers = [speaker]
    synthetic.server.tell(response, to: "alice")
    try await eventually("that alice speaks") { room.localParticipant.isSpeaking && room.activeSpeakers.count == 1 }
  }

  private func isSilent(_ room: Room) -> Bool {
    room.activeSpeakers.isEmpty && !room.localParticipant.isSpeaking && room.localParticipant.audioLevel == 0
  }

  @Test func itEndsWithTheSession() async throws {
    try await withTwoRoomsAndServer { synthetic, alice, _ in
      try await speak(alice, in: synthetic)
      synthetic.renewSession(of: "alice")
      try await eventually("silence") { isSilent(alice) }
      try await eventually("another session") { alice.connectionState == .connected }
      try await speak(alice, in: synthetic)
    }
  }

  @Test func itEndsWithTheStayInARoom() async throws {
    try await withTwoRoomsAndServer { synthetic, alice, _ in
      try await speak(alice, in: synthetic)
      try await synthetic.server.moveParticipant("alice", to: "other")
      try await eventually("silence") { isSilent(alice) && alice.name == "other" }
    }
  }

  @Test func itEndsWithTheConnection() async throws {
    try await withTwoRoomsAndServer { synthetic, alice, _ in
      try await speak(alice, in: synthetic)
      await alice.disconnect()
      #expect(isSilent(alice))
    }
  }
}
