import BridgeTesting
import Egress
import Foundation
import LiveKitProtocol
import MediaBridge
import Testing

/// A composite in a room that subscribes to nothing by itself.
@Suite struct RoomCompositeTests {
  private let folder: TemporaryFolder
  /// What the server was asked to send by the one who mixes.
  private let asked = Collector<Livekit_UpdateTrackSettings>()

  init() throws { folder = try TemporaryFolder() }

  private func run(_ file: String = "a.mkv", _ body: (Room, RoomComposite, SyntheticRoom) async throws -> Void)
    async throws
  {
    let server = try await SyntheticRoom.start(codecs: ["alice": "vp8", "bob": "vp8"]) { [asked] identity, request in
      if identity == "mixer", case .trackSetting(let settings) = request.message { asked.add(settings) }
    }
    let room = Room(roomOptions: RoomOptions(autoSubscribe: false, audioPlayback: .off))
    try await room.connect(url: server.url, token: try await SyntheticRoom.token("mixer"))
    let composite = RoomComposite(
      room: room, options: CompositeOptions(file: "\(folder.path)/\(file)", wait: .seconds(20)))
    try await composite.start()
    try await body(room, composite, server)
    await room.disconnect()
    await server.stop()
  }

  /// Sizes in the order in which they were asked for, those of a track that was asked for twice by what came last.
  private func sizes() -> [String] {
    let last = Dictionary(asked.values.flatMap { ask in ask.trackSids.map { ($0, ask) } }) { $1 }
    return last.values.filter { !$0.disabled && $0.width > 0 }.map { "\($0.width)x\($0.height)" }
  }

  @Test func valuesAreForTheTemplatesThatHaveThem() async throws {
    func prepare(_ values: [String: String], file: String = "a.mkv") async throws {
      let options = CompositeOptions(file: "\(folder.path)/\(file)", values: values)
      let composite = RoomComposite(room: Room(), options: options)
      do { try await composite.prepare() } catch {
        _ = try? await composite.finish()
        throw error
      }
      _ = try await composite.finish()
    }
    try await prepare(["delay": "200000000", "audio-delay": "500000000", "bitrate": "1000", "cluster": "500000000"])
    for values in [["dealy": "1"], ["delay": "mauve"]] {
      await #expect(throws: LiveKitError.self) { try await prepare(values) }
    }
    await #expect(throws: LiveKitError.self, "whose file would it be?") {
      try await prepare([:], file: "{publisher_identity}.mkv")
    }
  }

  @Test func theWaitForSomebodyHasAnEnd() async throws {
    let server = try await SyntheticRoom.start(codecs: [:])
    let room = Room(roomOptions: RoomOptions(autoSubscribe: false, audioPlayback: .off))
    try await room.connect(url: server.url, token: try await SyntheticRoom.token("mixer"))
    let composite = RoomComposite(
      room: room, options: CompositeOptions(file: folder.path + "/a.mkv", wait: .milliseconds(300)))
    let told = Collector<String>(composite.events) { if case .waiting(let missing) = $0 { missing } else { nil } }
    let error = await #expect(throws: LiveKitError.self) { try await composite.start() }
    #expect(error?.code == .timedOut && error?.message.contains("check the room's name") == true)
    try await eventually("all told") { told.values == ["somebody to publish"] }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    await room.disconnect()
    await server.stop()
  }

  @Test func destinationsComeAndGo() async throws {
    try await run { _, composite, _ in
      try await composite.add(OutputDestination(folder.path + "/b.mp4"))
      try await eventually("its beginning") {
        let late = await composite.progress().destinations.last
        return late?.state == .active && late?.duration ?? .zero > .milliseconds(500)
      }
      let gone = try await composite.remove(folder.path + "/a.mkv")
      #expect(gone.state == .complete && gone.duration > .milliseconds(500))
      await #expect(throws: LiveKitError.self, "the last one") { try await composite.remove(folder.path + "/b.mp4") }
      let done = try await composite.finish()
      #expect(done.destinations.map(\.state) == [.complete, .complete] && done.destinations[1].tracks.count == 2)
    }
  }

  @Test func whatIsNotMixedCannotBeAdded() async throws {
    try await run("a.ogg") { _, composite, _ in
      let error = await #expect(throws: LiveKitError.self) {
        try await composite.add(OutputDestination(folder.path + "/b.mp4"))
      }
      #expect(error?.message.contains("b.mp4: it is to have video") == true)
      _ = try await composite.finish()
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.ogg"])
    }
  }

  @Test func aTileIsAskedForAsLargeAsItIsSeen() async throws {
    try await run { room, composite, server in
      try await eventually("halves") { sizes() == ["640x720", "640x720"] }
      let carol = try await server.join("carol")
      try await eventually("quarters") { sizes() == ["640x360", "640x360", "640x360"] }
      await composite.set(layout: .speaker)
      try await eventually("one large, and the strip") {
        Set(sizes()) == ["1066x720", "214x134", "214x132"] || Set(sizes()) == ["1066x720", "214x134"]
      }
      await carol.disconnect()
      let progress = try await composite.finish()
      #expect(progress.omissions.isEmpty && progress.duration > .zero)
      #expect(
        progress.tracks.count == 2 && progress.tracks.allSatisfy { $0.packetsReceived > 10 && $0.packetsLost == 0 })
      try await eventually("the end of the subscriptions") {
        room.remoteParticipants.values.flatMap { $0.trackPublications.values }.allSatisfy { !$0.isSubscribed }
      }
    }
  }
}
