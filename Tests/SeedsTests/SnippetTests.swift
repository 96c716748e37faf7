import BridgeTesting
import Foundation
import MediaBridge
import MediaCore
import Testing

extension SeedsTests {
  /// The code of the documentation's pages stands in `Snippets`, where it is compiled.
  @Suite struct Snippets {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    @Test(arguments: [("LiveKit", "ComingFromTheLiveKitSwiftSDK"), ("Vonage", "ComingFromVonage")])
    func thePageShowsWhatIsCompiled(snippet: String, page: String) throws {
      let code = try String(
        contentsOf: Self.folder.appending(path: "Snippets/\(snippet)Snippet.swift"), encoding: .utf8)
      let text = try String(
        contentsOf: Self.folder.appending(path: "../../Sources/MediaBridge/MediaBridge.docc/\(page).md"),
        encoding: .utf8)
      let blocks = text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
      #expect(blocks == [code])
    }

    @Test func aFrameOfEveryoneIsSaved() async throws {
      let photographer = Photographer()
      try await inRoom(delegate: photographer) { room, _ in
        let alice = try #require(room.remoteParticipants["alice"])
        let file = URL.temporaryDirectory.appending(path: "\(alice.sid).png")
        try await eventually("the image") { (try? Data(contentsOf: file).count) ?? 0 > 1000 }
        #expect(try Data(contentsOf: file).prefix(4) == Data([0x89, 0x50, 0x4e, 0x47]))
        try FileManager.default.removeItem(at: file)
      }
    }

    /// What Vonage's page calls a stream is two publications and their participant.
    @Test func whatIsKnownOfAStream() async throws {
      let start = Date()
      try await inRoom { room, watcher in
        let (camera, microphone) = (try await watcher.camera(), try await watcher.microphone())
        #expect([camera.kind, microphone.kind] == [.video, .audio])
        #expect([camera.name, microphone.name] == ["camera", "microphone"])
        #expect([camera.source, microphone.source] == [.camera, .microphone])
        #expect(camera.dimensions == Dimensions(width: 640, height: 360) && microphone.dimensions == nil)
        let alice = try #require(room.remoteParticipants["alice"])
        #expect(!alice.isLocal && room.localParticipant.isLocal)
        // The development server tells whole seconds.
        #expect((start.addingTimeInterval(-1)...Date()).contains(try #require(alice.joinedAt)))
        #expect(room.localParticipant.joinedAt != nil)
        for publication in [camera, microphone] {
          #expect((start.addingTimeInterval(-1)...Date()).contains(try #require(publication.publishedAt)))
        }
      }
    }

    @Test func aSubscriberAsVonagesIsTold() async throws {
      let subscriber = Subscriber()
      let sid = Locked("")
      try await inRoom(RoomOptions(autoSubscribe: false, adaptiveStream: false), delegate: subscriber) { room, _ in
        let camera = try await publication(.video, in: room)
        sid.withLock { $0 = camera.sid }
        try await eventually("the subscription") { Printed.lines.contains("connected to \(camera.sid)") }
        try await camera.set(enabled: false)
        try await camera.set(enabled: true)
        try await eventually("both changes") { Printed.lines.last == "video enabled: subscriberPropertyChanged" }
      }
      let camera = sid.withLock { $0 }
      try await eventually("the end") { Printed.lines.contains("stream \(camera) is gone") }
      #expect(Printed.lines.contains("stream \(camera) of alice"))
      #expect(Printed.lines.contains("video disabled: subscriberPropertyChanged"))
    }
  }
}
