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
      #expect(his.state == .complete && his.duration < passed, "\(his.duration) of \(passed)")
      #expect(done.omissions.isEmpty)
    }
  }
}
