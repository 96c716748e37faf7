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

  /// Whoever takes one for the whole room is to know; nothing is missed for that.
  @Test(arguments: [nil, "*", "alice"] as [String?])
  func whoWouldFitAsWellIsToldOnce(_ name: String?) async throws {
    try await run { room, folder in
      try await eventually("all tracks") {
        ["alice", "bob"].allSatisfy { room.remoteParticipants[$0]?.trackPublications.count == 2 }
      }
      var options = RecordingOptions(file: folder.path + "/a.webm", wait: .seconds(20))
      if name == "*" { options.participantPatterns = ["*"] } else { options.participant = name }
      let recorder = Recorder(room: room, options: options)
      let events = recorder.events
      try await recorder.start()
      let done = try await recorder.finish()
      var told: [Omission] = []
      for await event in events {
        if case .omitted(let omission) = event, omission.kind == .none { told.append(omission) }
      }
      #expect(done.omissions.filter { $0.kind == .none } == told)
      #expect(told.count == (name == "alice" ? 0 : 1))
      #expect(told.allSatisfy { !$0.wasWanted && $0.reason.contains(" alone is taken; --composite grid mixes all") })
    }
  }

  /// Who comes later is told, too, where nobody else was there at the beginning.
  @Test func whoComesLaterIsToldAsWell() async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false)) { watcher in
      let folder = try TemporaryFolder()
      let recorder = Recorder(
        room: watcher.room, options: RecordingOptions(file: folder.path + "/a.webm", wait: .seconds(20)))
      try await recorder.start()
      #expect(await recorder.progress().omissions.isEmpty)
      let late = try await watcher.synthetic.join("late")
      try await eventually("who came") {
        await recorder.progress().omissions.contains { $0.reason.hasPrefix("late: alice alone is taken") }
      }
      _ = try await recorder.finish()
      await late.disconnect()
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
