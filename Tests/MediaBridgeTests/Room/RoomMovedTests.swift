import BridgeTesting
import DevServer
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore
import Testing

/// A participant whom the server moves to another room.
@Suite struct RoomMovedTests {
  private final class Guest: Sendable {
    let room = Room(roomOptions: RoomOptions(adaptiveStream: false))
    let events = Collector<RoomEvent>()

    init(_ identity: String, in synthetic: SyntheticRoom, _ name: String = SyntheticRoom.name) async throws {
      Task { [stream = room.events, events] in for await event in stream { events.add(event) } }
      let token = try SyntheticRoom.token(identity, VideoGrant(room: name, roomJoin: true))
      try await room.connect(url: synthetic.url, token: token)
    }

    /// Who comes and goes, and the moves and returns, in order.
    var course: [String] {
      events.values.compactMap { event in
        switch event {
        case .participantConnected(let participant): "+\(participant.identity ?? "")"
        case .participantDisconnected(let participant): "-\(participant.identity ?? "")"
        case .roomMoved(let name): "to \(name)"
        case .reconnected(let mode): "\(mode)"
        default: nil
        }
      }
    }

    func hears(_ text: String) -> Bool {
      events.values.contains { event in
        if case .dataReceived(_, let data, _) = event { data == Data(text.utf8) } else { false }
      }
    }

    /// What was published just before a move may be another track soon.
    func seeCamera(of identity: String) async throws {
      let seen = Locked<(track: RemoteVideoTrack, frames: Collector<VideoFrame>)?>(nil)
      try await eventually("frames of \(identity)'s camera") {
        let track = self.room.remoteParticipants[identity]?.videoTracks.first?.track as? RemoteVideoTrack
        return seen.withLock { seen in
          if let track, track !== seen?.track { seen = (track, Collector(track.frames()) { $0 }) }
          return seen.map { $0.frames.count > 5 } ?? false
        }
      }
    }

    func show() async throws {
      let options = CameraCaptureOptions(template: "pattern", values: ["width": "320", "height": "180"])
      try await room.localParticipant.setCamera(enabled: true, captureOptions: options)
    }
  }

  /// With alice, who is to be moved, and bob in one room, and carol in the other.
  private func run(_ body: (SyntheticRoom, _ alice: Guest, _ bob: Guest, _ carol: Guest) async throws -> Void)
    async throws
  {
    let synthetic = try await SyntheticRoom.start(codecs: [:])
    let alice = try await Guest("alice", in: synthetic)
    let (bob, carol) = (try await Guest("bob", in: synthetic), try await Guest("carol", in: synthetic, "other"))
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await body(synthetic, alice, bob, carol)) } catch { outcome = .failure(error) }
    for guest in [alice, bob, carol] { await guest.room.disconnect() }
    await synthetic.stop()
    try outcome.get()
  }

  @Test func theRoomIsAnotherOneAndWhatIsPublishedGoesWithIt() async throws {
    try await run { synthetic, alice, bob, carol in
      for guest in [alice, bob, carol] { try await guest.show() }
      try await alice.seeCamera(of: "bob")
      try await bob.seeCamera(of: "alice")
      let (sid, participant) = (alice.room.sid, alice.room.localParticipant.sid)
      let published = Array(alice.room.localParticipant.trackPublications.keys)
      try await synthetic.server.moveParticipant("alice", to: "other")

      try await eventually("the move") { alice.course == ["+bob", "-bob", "to other", "+carol"] }
      #expect(alice.room.name == "other" && alice.room.sid != sid && alice.room.localParticipant.sid != participant)
      #expect(Array(alice.room.remoteParticipants.keys) == ["carol"])
      #expect(alice.room.connectionState == .connected)
      try await eventually("alice's leave") { bob.course.last == "-alice" }
      try await alice.seeCamera(of: "carol")
      try await carol.seeCamera(of: "alice")
      #expect(Array(alice.room.localParticipant.trackPublications.keys) == published)
      try await alice.room.localParticipant.publish(data: Data("hello".utf8), options: .init(reliable: true))
      try await eventually("the message") { carol.hears("hello") }
      #expect(!bob.hears("hello"))
    }
  }

  /// By the token that came with the move.
  @Test(arguments: [(Livekit_LeaveRequest.Action.resume, "quick"), (.reconnect, "full")])
  func aLostConnectionComesBackToTheNewRoom(_ action: Livekit_LeaveRequest.Action, _ mode: String) async throws {
    try await run { synthetic, alice, _, carol in
      try await alice.show()
      try await synthetic.server.moveParticipant("alice", to: "other")
      try await eventually("the move") { alice.course.last == "+carol" }
      var response = Livekit_SignalResponse()
      response.leave.action = action
      synthetic.server.tell(response, to: "alice")
      try await eventually("the connection") { alice.course.last == mode }
      #expect(alice.room.name == "other" && Array(alice.room.remoteParticipants.keys) == ["carol"])
      try await carol.seeCamera(of: "alice")
    }
  }

  /// A server that does not take them along does not name them.
  /// Of the track that it has lost it may say, too, that it has gone.
  @Test func whatTheServerDoesNotKnowAnyMoreIsPublishedAnew() async throws {
    try await run { synthetic, alice, bob, _ in
      try await alice.show()
      try await bob.seeCamera(of: "alice")
      let before = try #require(alice.room.localParticipant.localVideoTracks.first)
      let sid = before.sid
      var response = Livekit_SignalResponse()
      response.roomMoved.room.name = "elsewhere"
      response.roomMoved.participant.sid = alice.room.localParticipant.sid
      response.roomMoved.participant.identity = "alice"
      response.roomMoved.participant.permission.canPublish = true
      synthetic.server.tell(response, to: "alice")
      response.trackUnpublished.trackSid = sid
      synthetic.server.tell(response, to: "alice")
      try await eventually("another SID") { before.sid != sid }
      let publications = alice.room.localParticipant.localVideoTracks
      #expect(publications.count == 1 && publications.first === before)
      try await eventually("it alone") {
        bob.room.remoteParticipants["alice"]?.videoTracks.map(\.sid) == [before.sid]
      }
      try await bob.seeCamera(of: "alice")
    }
  }
}
