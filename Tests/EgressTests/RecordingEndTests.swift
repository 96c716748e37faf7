import BridgeTesting
import Egress
import LiveKitProtocol
import MediaBridge
import MediaCore
import Testing

@testable import struct Egress.Presence

/// What becomes of a recording when people leave.
@Suite struct RecordingEndTests {
  @Test func whoComesBackAtOnceHasNotLeft() {
    var presence = Presence()
    let begin = MediaTime.now
    presence.note(true, at: begin)
    presence.note(true, at: begin + .seconds(1))
    presence.note(false, at: begin + .milliseconds(1500))
    presence.note(true, at: begin + .seconds(3))
    #expect(!presence.isOver && presence.overSince == begin + .seconds(3))
    presence.note(true, at: begin + .seconds(6))
    presence.note(false, at: begin + .seconds(7))
    #expect(presence.isOver && presence.overSince == begin + .seconds(3))
  }

  /// An agent and a recording would wait for each other.
  @Test func agentsAloneAreNobodyUnlessTheyAloneWereRecorded() {
    let (alice, agent) = (
      Presence.Guest(isRecorded: true, isDependent: false), Presence.Guest(isRecorded: true, isDependent: true)
    )
    var (people, agents) = (Presence(), Presence())
    let ofPeople = [people.isEmpty([agent]), people.isEmpty([alice, agent]), people.isEmpty([agent])]
    #expect(ofPeople == [false, false, true])
    let listener = Presence.Guest(isRecorded: false, isDependent: false)
    let ofAgents = [agents.isEmpty([agent, listener]), agents.isEmpty([agent]), agents.isEmpty([])]
    #expect(ofAgents == [false, false, true])
  }

  /// What is longer than a lost connection is recorded, too.
  @Test func anEmptyRoomHasAsMuchTimeAsIsAskedFor() {
    let begin = MediaTime.now
    for (grace, end, reading) in [(2.0, 0.0, 0.0), (20, 20, 1.5), (0.5, 0, 0)] {
      var presence = Presence()
      presence.note(true, at: begin, grace: .seconds(grace))
      #expect(presence.reading(at: begin + .seconds(1.5)) == begin + .seconds(reading), "\(grace)")
      presence.note(true, at: begin + .seconds(grace - 0.1), grace: .seconds(grace))
      #expect(!presence.isOver && presence.end == nil)
      presence.note(true, at: begin + .seconds(grace), grace: .seconds(grace))
      #expect(presence.isOver && presence.end == begin + .seconds(end), "\(grace)")
      #expect(presence.reading(at: begin + .seconds(30)) == begin + .seconds(end))
    }
  }

  private struct Scene: Sendable {
    let watcher: Watcher
    var synthetic: SyntheticRoom { watcher.synthetic }
    let recorder: Recorder
    let told: Collector<String>
  }

  /// Alice is recorded, bob is there too.
  private func run(
    _ ending: RecordingOptions.Ending?, lasting duration: Duration? = nil, _ body: (Scene) async throws -> Void
  ) async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false), codecs: ["alice": "vp8", "bob": "vp8"]) { watcher in
      let folder = try TemporaryFolder()
      var options = RecordingOptions(
        file: folder.path + "/a.mkv", participant: "alice", ending: ending, wait: .seconds(20))
      options.duration = duration
      let recorder = Recorder(room: watcher.room, options: options)
      let told = Collector<String>(recorder.events) { event in
        switch event {
        case .participantLeft(let identity): "-" + identity
        case .participantReturned(let identity): "+" + identity
        default: nil
        }
      }
      try await recorder.start()
      try await body(Scene(watcher: watcher, recorder: recorder, told: told))
    }
  }

  private func job(_ kind: String, in room: Room, _ folder: TemporaryFolder) -> any EgressJob {
    let options = RecordingOptions(file: folder.path + "/{publisher_identity}.mkv", wait: .seconds(20))
    switch kind {
    case "composite":
      var options = CompositeOptions(file: folder.path + "/all.mkv")
      options.size = Dimensions(width: 320, height: 180)
      return RoomComposite(room: room, options: options)
    case "group": return RecorderGroup(room: room, each: .participant, options: options)
    default: return Recorder(room: room, options: options)
    }
  }

  /// Whoever does not look at the room is not to go on for ever, nor take for whole what is not.
  @Test(arguments: ["recorder", "composite", "group"]) func aRoomThatIsGoneIsTold(_ kind: String) async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false), codecs: ["alice": "vp8"]) { watcher in
      let folder = try TemporaryFolder()
      let job = job(kind, in: watcher.room, folder)
      let told = Collector<EgressInfo.EndReason>(job.events) { event in
        if case .over(let reason) = event { reason } else { nil }
      }
      try await job.start()
      #expect(await job.failure == nil)
      watcher.synthetic.server.removeParticipant("watcher")
      try await eventually("the end") { told.values == [.failure] }
      #expect(await job.failure?.code == .participantRemoved)
      let error = await #expect(throws: LiveKitError.self) { try await job.finish() }
      #expect(error?.code == .participantRemoved)
      let info = await job.info
      #expect(info.status == .failed && info.endReason == .failure && info.fileResults.first?.size ?? 0 > 0)
    }
  }

  /// While it is brought back nobody knows what is missed.
  @Test(arguments: ["recorder", "composite", "group"])
  func anEndWithoutAConnectionIsTold(_ kind: String) async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false), codecs: ["alice": "vp8"]) { watcher in
      let folder = try TemporaryFolder()
      let job = job(kind, in: watcher.room, folder)
      try await job.start()
      await watcher.synthetic.server.stop()
      try await eventually("the loss") { watcher.room.connectionState == .reconnecting }
      let loss = await job.elapsed
      try await eventually("three seconds more") { await job.elapsed > loss + .seconds(3) }
      let done = try await job.finish()
      let missing = done.omissions.filter { $0.sid == "connection" }
      #expect(missing.map(\.wasWanted) == [true], "\(done.omissions)")
      #expect(missing.first?.description.hasPrefix("the last ") == true)
    }
  }

  @Test func whoLeavesTheRoomHasAWholeFile() async throws {
    try await run(nil) { scene in
      await scene.watcher.room.disconnect()
      _ = try await scene.recorder.finish()
      #expect(await scene.recorder.info.status == .complete)
    }
  }

  @Test func aRecordingEndsWhereItsParticipantLeft() async throws {
    try await run(.participantLeft) { scene in
      await scene.synthetic.publishers["bob"]?.disconnect()
      await scene.synthetic.publishers["alice"]?.disconnect()
      let length = await scene.recorder.elapsed
      try await eventually("the end") { await scene.recorder.ending == .participantLeft }
      let progress = try await scene.recorder.finish()
      #expect(progress.duration < length + .seconds(1))
      try await eventually("the word that she left") { scene.told.values == ["-alice"] }
    }
  }

  @Test func aRecordingEndsWithTheLastOne() async throws {
    try await run(.roomEmpty) { scene in
      await scene.synthetic.publishers["alice"]?.disconnect()
      try await eventually("the word that she left") { scene.told.values == ["-alice"] }
      let again = try await scene.synthetic.join("alice")
      try await eventually("the word that she is back") { scene.told.values == ["-alice", "+alice"] }
      try await eventually("her new camera") {
        let camera = scene.watcher.room.remoteParticipants["alice"]?.videoTracks.first
        let recorded = await scene.recorder.progress().video
        return recorded?.sid == camera?.sid && recorded?.packetsReceived ?? 0 > 0
      }
      await again.disconnect()
      #expect(await scene.recorder.ending == nil)
      await scene.synthetic.publishers["bob"]?.disconnect()
      try await eventually("the end") { await scene.recorder.ending == .roomEmpty }
      _ = try await scene.recorder.finish()
    }
  }

  /// A server closes a room that everybody has left, and one that somebody ends for all, whatever was asked for.
  @Test(arguments: [nil, RecordingOptions.Ending.participantLeft], [LiveKitError.Code.roomClosed, .roomDeleted])
  func aRoomThatIsClosedEndsARecording(_ ending: RecordingOptions.Ending?, _ code: LiveKitError.Code) async throws {
    try await run(ending) { scene in
      let over = Task { [events = scene.recorder.events] in
        for await case .over(let reason) in events { return reason }
        return EgressInfo.EndReason.stopped
      }
      try await eventually("some media") { await scene.recorder.progress().duration > .seconds(1) }
      let reason: Livekit_DisconnectReason = code == .roomClosed ? .roomClosed : .roomDeleted
      scene.watcher.tell { ($0.leave.reason, $0.leave.action) = (reason, .disconnect) }
      #expect(await over.value == .sourceClosed)
      #expect(scene.watcher.room.disconnectError?.code == code)
      #expect(await scene.recorder.ending == .roomEmpty)
      _ = try await scene.recorder.finish()
      let info = await scene.recorder.info
      #expect(info.status == .complete && info.endReason == .sourceClosed && info.error == nil)
    }
  }

  /// In a new session everybody comes again, which is no leaving.
  @Test func aRoomThatIsJoinedAnewEndsNothing() async throws {
    try await run(.participantLeft) { scene in
      let events = Collector<RoomEvent>()
      let reader = Task { [stream = scene.watcher.room.events] in for await event in stream { events.add(event) } }
      defer { reader.cancel() }
      scene.watcher.tell { $0.leave.action = .reconnect }
      try await eventually("another session") {
        events.values.contains { if case .reconnected(.full) = $0 { true } else { false } }
      }
      // What stands in for it grows, too.
      let before = await scene.recorder.progress().video?.buffers ?? 0
      try await eventually("its media") { await scene.recorder.progress().video?.buffers ?? 0 > before + 5 }
      #expect(await scene.recorder.ending == nil)
      let progress = try await scene.recorder.finish()
      #expect(scene.told.values.isEmpty && progress.omissions.isEmpty)
    }
  }

  /// What fails while it is recorded is known at the end, unless it came after all.
  @Test func aTrackThatFailsIsMissing() async throws {
    try await run(.participantLeft) { scene in
      let alice = try #require(scene.watcher.room.remoteParticipants["alice"])
      let camera = try #require(alice.videoTracks.first)
      scene.watcher.tell { ($0.subscriptionResponse.trackSid, $0.subscriptionResponse.err) = (camera.sid, .seUnknown) }
      try await eventually("the omission") { await scene.recorder.progress().omissions.map(\.sid) == [camera.sid] }
      #expect(await scene.recorder.progress().omissions.first?.wasWanted == true)
      try await eventually("both tracks") {
        await scene.recorder.progress().tracks.filter { $0.buffers > 0 }.count == 2
      }
      let progress = try await scene.recorder.finish()
      #expect(progress.omissions.isEmpty)
    }
  }

  /// Whoever is to finish it comes late.
  @Test func aRecordingLastsAsLongAsAsked() async throws {
    try await run(nil, lasting: .seconds(2)) { scene in
      try await eventually("the end") { await scene.recorder.ending == .durationReached }
      try await eventually("two seconds more") { await scene.recorder.elapsed > .seconds(4) }
      let progress = try await scene.recorder.finish()
      #expect(abs(progress.duration.seconds - 2) < 0.1)
      #expect(await scene.recorder.info.status == .limitReached)
    }
  }

  /// Its time stands still, and nothing more comes that could be waited for.
  @Test func aPausedRecordingEnds() async throws {
    try await run(nil) { scene in
      try await eventually("some media") { await scene.recorder.progress().duration > .seconds(1) }
      try await scene.recorder.pause()
      let length = await scene.recorder.elapsed
      let progress = try await scene.recorder.finish()
      #expect(abs((progress.duration - length).seconds) < 0.3)
    }
  }
}
