import BridgeTesting
import Egress
import MediaBridge
import Testing

/// A recorder in a room that subscribes to nothing by itself.
@Suite struct RecorderSubscriptionTests {
  private func run(_ body: (Room, TemporaryFolder) async throws -> Void) async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false), codecs: ["alice": "vp8", "bob": "vp8"]) { watcher in
      try await body(watcher.room, try TemporaryFolder())
    }
  }

  private func subscribed(_ identity: String, in room: Room) -> Set<Track.Kind> {
    let publications = room.remoteParticipants[identity]?.trackPublications.values
    return Set(publications?.filter(\.isSubscribed).map(\.kind) ?? [])
  }

  @Test func onlyWhatIsRecordedIsSubscribedTo() async throws {
    try await run { room, folder in
      let recorder = Recorder(
        room: room,
        options: RecordingOptions(file: folder.path + "/a.webm", participant: "alice", wait: .seconds(20)))
      try await recorder.start()
      #expect(subscribed("alice", in: room) == [.video, .audio])
      #expect(subscribed("bob", in: room) == [])
      _ = try await recorder.finish()
      try await eventually("the end of the subscriptions") { self.subscribed("alice", in: room) == [] }
    }
  }

  @Test func theFirstWhoSendsIsKeptAndTheOthersAreGivenBack() async throws {
    try await run { room, folder in
      let recorder = Recorder(
        room: room, options: RecordingOptions(file: folder.path + "/a.mkv", kinds: [.audio], wait: .seconds(20)))
      try await recorder.start()
      try await eventually("one participant's audio alone") {
        [self.subscribed("alice", in: room), self.subscribed("bob", in: room)].filter { !$0.isEmpty } == [[.audio]]
      }
      _ = try await recorder.finish()
    }
  }

  /// What somebody else wants stays: another recorder, or the program itself.
  @Test func subscriptionsOfOthersStay() async throws {
    try await run { room, folder in
      let recorders = ["a", "b"].map { name in
        Recorder(
          room: room,
          options: RecordingOptions(file: "\(folder.path)/\(name).mkv", participant: "alice", wait: .seconds(20)))
      }
      for recorder in recorders { try await recorder.start() }
      _ = try await recorders[0].finish()
      let before = try #require(await recorders[1].progress().video?.packetsReceived)
      try await eventually("more frames") { await recorders[1].progress().video?.packetsReceived ?? 0 > before + 20 }
      let voice = try #require(room.remoteParticipants["alice"]?.trackPublications.values.first { $0.kind == .audio })
      try await voice.set(subscribed: true)
      _ = try await recorders[1].finish()
      try await eventually("the frames' end") { self.subscribed("alice", in: room) == [.audio] }
    }
  }
}
