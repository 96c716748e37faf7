import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaCore
import Testing

@testable import Egress
@testable import MediaBridge

/// How a recorder waits for what it is to record.
@Suite struct RecordingSearchTests {
  /// It may wait for hours: nothing wakes it while nothing happens.
  @Test(arguments: ["nobody", "alice"])
  func waitingCostsNothing(_ identity: String) async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false)) { watcher in
      try await eventually("both tracks") { watcher.room.remoteParticipants["alice"]?.trackPublications.count == 2 }
      try await watcher.synthetic.allow(false)
      let looks = Collector<MediaTime>()
      let bell = Bell()
      var search = RecordingSearch(
        room: watcher.room, options: RecordingOptions(file: "a.mkv", participant: identity),
        subscriptions: SubscriptionLease(), deadline: .now + .seconds(2), bell: bell, onUpdate: { _ in })
      search.onLook = { looks.add(.now) }
      let listener = bell.ring(for: watcher.room.events)
      defer { listener.cancel() }
      await #expect(throws: LiveKitError.self) { _ = try await search.run() }
      // The first and the last one, and where somebody is there what the server says of the permission.
      let end = try #require(looks.values.last)
      #expect(looks.values.filter { $0 < end - .seconds(1) }.count <= 5)
      #expect(looks.values.filter { $0 >= end - .seconds(1) }.count == 1)
    }
  }

  @Test func mediaThatBeginsToFlowRings() async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false)) { watcher in
      let folder = try TemporaryFolder()
      let recorder = Recorder(
        room: watcher.room,
        options: RecordingOptions(file: folder.path + "/a.mkv", participant: "late", wait: .seconds(20)))
      let starting = Task { try await recorder.start() }
      let late = try await watcher.synthetic.join("late")
      let joined = MediaTime.now
      try await starting.value
      // Less than it waits for a track that does not come.
      #expect(MediaTime.now - joined < .seconds(2))
      #expect(await recorder.progress().tracks.count == 2)
      _ = try await recorder.finish()
      await late.disconnect()
    }
  }

  /// What does not fit into one file is known as soon as it is known what it is.
  @Test func tracksThatDoNotFitTogetherAreRefused() async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false), codecs: ["alice": "vp8", "bob": "vp8"]) { watcher in
      let carol = try await watcher.synthetic.join("carol")
      try await carol.localParticipant.publish(
        videoTrack: LocalVideoTrack.createCameraTrack(options: CameraCaptureOptions(template: "pattern")))
      let cameras = try await eventually("the cameras") { () -> [[String]]? in
        let cameras = ["alice", "bob", "carol"].map { identity in
          watcher.room.remoteParticipants[identity]?.videoTracks.map(\.sid) ?? []
        }
        return cameras.map(\.count) == [1, 1, 2] ? cameras : nil
      }
      try await refuse(cameras[0] + cameras[1], in: watcher.room, "two participants")
      try await refuse(cameras[2], in: watcher.room, "both video")
      await carol.disconnect()
    }
  }

  private func refuse(_ sids: [String], in room: Room, _ reason: String) async throws {
    let folder = try TemporaryFolder()
    let options = RecordingOptions(file: folder.path + "/a.mkv", trackSids: sids, wait: .seconds(10))
    let recorder = Recorder(room: room, options: options)
    let error = await #expect(throws: LiveKitError.self) { try await recorder.start() }
    #expect(error?.code == .invalidParameter && error?.message.contains(reason) == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  /// Also one of a group.
  @Test func whatFlowsAtTheEndOfAWaitHasTimeToBegin() {
    let begin = MediaTime.now
    #expect(Recorder.limit(of: nil, for: begin) == nil)
    #expect(Recorder.limit(of: begin, for: nil) == begin)
    #expect(Recorder.limit(of: begin + .seconds(5), for: begin + .seconds(4)) == begin + .seconds(19))
    #expect(Recorder.limit(of: begin + .seconds(60), for: begin + .seconds(4)) == begin + .seconds(60))
  }

  @Test func aBellThatRangBeforeIsHeardOnce() async {
    let bell = Bell()
    bell.ring()
    bell.ring()
    let begun = MediaTime.now
    await bell.wait(until: begun + .seconds(20))
    #expect(MediaTime.now - begun < .seconds(10))
    await bell.wait(until: .now + .milliseconds(50))
    #expect(MediaTime.now - begun >= .milliseconds(50))
  }
}
