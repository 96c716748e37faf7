import BridgeTesting
import LiveKitProtocol
import Testing

@testable import MediaBridge

/// Publications that have ended, which somebody may still hold.
@Suite struct EndedPublicationTests {
  /// As where a server does not name a track for a moment: it is published again under its SID.
  @Test func theyAskForNothingOfTheNextOne() async throws {
    try await Watcher.run(RoomOptions(audioPlayback: .off)) { watcher in
      let old = try await watcher.camera()
      let alice = try #require(watcher.room.remoteParticipants["alice"])
      var (info, track) = (Livekit_ParticipantInfo(), Livekit_TrackInfo())
      (info.identity, info.sid, info.state, info.version) = ("alice", alice.sid, .active, UInt32.max)
      (track.sid, track.type, track.source) = (old.sid, .video, .camera)
      watcher.tell { $0.update.participants = [info] }
      info.tracks = [track]
      watcher.tell { $0.update.participants = [info] }
      let new = try await eventually("the next one") { () -> RemoteTrackPublication? in
        alice.trackPublications[old.sid].flatMap { $0 === old ? nil : $0 }
      }
      await new.hold(.everything)
      await old.release(.everything)
      try await old.set(subscribed: false)
      #expect(new.isWanted && new.subscription.wish.holders == 1)
    }
  }
}
