import BridgeTesting
import Egress
import Foundation
import MediaBridge
import Testing

/// Recorders of each who is in a room.
@Suite struct RecorderGroupTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// What is before the end of the pause is in nobody's file.
  @Test func whoComesInAPauseBeginsAtItsEnd() async throws {
    let (alice, bob) = ("\(folder.path)/alice.mkv", "\(folder.path)/bob.mkv")
    try await Watcher.run(RoomOptions(autoSubscribe: false), codecs: ["alice": "vp8"]) { watcher in
      let options = RecordingOptions(file: "\(folder.path)/{publisher_identity}.mkv", wait: .seconds(20))
      let group = RecorderGroup(room: watcher.room, each: .participant, options: options)
      try await group.start()
      try await group.pause()
      try await watcher.synthetic.join("bob")
      // It is opened once something comes of him.
      try await eventually("his file") { FileManager.default.fileExists(atPath: bob) }
      try await Task.sleep(for: .seconds(2))
      #expect(await group.progress().destinations.map(\.location) == [alice])
      let resumed = ContinuousClock.now
      try await group.resume()
      try await eventually("a second of him") {
        await group.progress().destinations.contains { $0.location == bob && $0.duration > .seconds(1) }
      }
      let done = try await group.finish()
      let passed = ContinuousClock.now - resumed
      let his = try #require(done.destinations.first { $0.location == bob })
      // A file ends with a whole frame, and the pause took two seconds.
      let frame = Duration.milliseconds(40)
      #expect(his.state == .complete && his.duration < passed + frame, "\(his.duration) of \(passed)")
      #expect(done.omissions.isEmpty)
      let identities = await group.manifests.map(\.publisherIdentity)
      #expect(Set(identities) == ["alice", "bob"])
    }
  }

  /// She comes back, and somebody is called as her second file is.
  @Test(arguments: [true, false]) func nobodyIsWrittenOverBySomebodyElse(_ replaces: Bool) async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false), codecs: ["alice": "vp8"]) { watcher in
      var options = RecordingOptions(file: "\(folder.path)/{publisher_identity}.mkv", wait: .seconds(20))
      options.replacesFiles = replaces
      let group = RecorderGroup(room: watcher.room, each: .participant, options: options)
      let files = ["alice", "alice-2", "alice-2-2"].map { "\(folder.path)/\($0).mkv" }
      try await group.start()
      await watcher.synthetic.publishers["alice"]?.disconnect()
      try await eventually("the end of her first file") { await state(of: files[0], in: group) == .complete }
      let again = try await watcher.synthetic.join("alice")
      try await eventually("her second one") { await state(of: files[1], in: group) == .active }
      await again.disconnect()
      try await eventually("the end of her second file") { await state(of: files[1], in: group) == .complete }
      let before = try Data(contentsOf: URL(fileURLWithPath: files[1]))
      try await watcher.synthetic.join("alice-2")
      try await eventually("that of the other") { await state(of: files[2], in: group) == .active }
      let done = try await group.finish()
      #expect(done.destinations.map(\.location) == files)
      #expect(done.destinations.allSatisfy { $0.state == .complete })
      #expect(try Data(contentsOf: URL(fileURLWithPath: files[1])) == before)
    }
  }

  private func state(of file: String, in group: RecorderGroup) async -> DestinationStatus.State? {
    await group.progress().destinations.last { $0.location == file }?.state
  }

  /// And has a file once he comes back, when there is room for it.
  @Test func whoCannotBeRecordedKeepsNobodyElseOut() async throws {
    let bob = "\(folder.path)/bob.mkv"
    try "yesterday's".write(toFile: bob, atomically: true, encoding: .utf8)
    try await Watcher.run(RoomOptions(autoSubscribe: false), codecs: ["bob": "vp8"]) { watcher in
      var options = RecordingOptions(file: "\(folder.path)/{publisher_identity}.mkv", wait: .seconds(60))
      options.replacesFiles = false
      let group = RecorderGroup(room: watcher.room, each: .participant, options: options)
      let failed = Collector<String>(group.events) { event in
        guard case .destinationChanged(let status) = event, status.state == .failed else { return nil }
        return status.location
      }
      let starting = Task { try await group.start() }
      try await eventually("his failure") { !failed.values.isEmpty }
      #expect(Set(failed.values) == [bob])
      try await watcher.synthetic.join("alice")
      try await starting.value
      try FileManager.default.removeItem(atPath: bob)
      await watcher.synthetic.publishers["bob"]?.disconnect()
      try await eventually("his leaving") { watcher.room.remoteParticipants["bob"] == nil }
      try await watcher.synthetic.join("bob")
      try await eventually("a second of him") {
        await group.progress().destinations.contains { $0.location == bob && $0.duration > .seconds(1) }
      }
      let error = await #expect(throws: LiveKitError.self) { try await group.finish() }
      #expect(error?.message.contains("bob was not recorded at first: \(bob) exists already") == true)
      let done = await group.progress()
      #expect(done.destinations.map(\.state) == [.complete, .complete])
      #expect(Set(done.destinations.map(\.location)) == [bob, "\(folder.path)/alice.mkv"])
    }
  }

  @Test func whyWhoCameIsNotRecordedIsSaidWhereTheWaitIsOver() async throws {
    try "yesterday's".write(toFile: "\(folder.path)/bob.mkv", atomically: true, encoding: .utf8)
    try await Watcher.run(RoomOptions(autoSubscribe: false), codecs: ["bob": "vp8"]) { watcher in
      var options = RecordingOptions(file: "\(folder.path)/{publisher_identity}.mkv", wait: .seconds(8))
      options.replacesFiles = false
      let group = RecorderGroup(room: watcher.room, each: .participant, options: options)
      let error = await #expect(throws: LiveKitError.self) { try await group.start() }
      #expect(error?.code == .timedOut && error?.message.contains("bob.mkv exists already") == true, "\(error as Any)")
    }
  }

  /// A group may go on for days.
  @Test func whatCameOfSomebodyIsHandedOverWhenTheyHaveLeft() async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false), codecs: ["alice": "vp8", "bob": "vp8"]) { watcher in
      let options = RecordingOptions(file: "\(folder.path)/{publisher_identity}.mkv", wait: .seconds(20))
      let group = RecorderGroup(room: watcher.room, each: .participant, options: options)
      let handedOver = Collector<[Manifest]>()
      await group.handOver { progress, manifests in
        #expect(progress.destinations.map(\.state) == [.complete])
        handedOver.add(manifests)
      }
      try await group.start()
      try await eventually("a second of both") {
        await group.progress().destinations.filter { $0.duration > .seconds(1) }.count == 2
      }
      await watcher.synthetic.publishers["alice"]?.disconnect()
      try await eventually("her manifest") { handedOver.count > 0 }
      #expect(handedOver.values.flatMap { $0 }.map(\.publisherIdentity) == ["alice"])
      #expect(await group.progress().destinations.contains { $0.state == .active })
      let done = try await group.finish()
      #expect(handedOver.values.flatMap { $0 }.map(\.publisherIdentity) == ["alice", "bob"])
      #expect(done.members.map(\.destinations.count) == [1, 1])
      // Who takes them has them.
      #expect(await group.manifests.isEmpty)
    }
  }
}
