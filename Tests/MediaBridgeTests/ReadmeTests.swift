import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaBridge
import PipelineTemplates
import Testing

/// The examples of the README stand in `ReadmeExample.swift` and the like, where they are compiled.
/// `test_outside_package.py` builds the first in a package of its own, with the manifest that stands before it.
@Suite struct ReadmeTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

  private static func blocks(_ page: String) throws -> [String] {
    try String(contentsOf: folder.appending(path: "../../\(page)"), encoding: .utf8)
      .components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
  }

  @Test func theExamplesAreThoseThatAreCompiled() throws {
    let examples = try ["ReadmeExample", "ReadmeRecording", "ReadmePublishing"].map {
      try String(contentsOf: Self.folder.appending(path: "\($0).swift"), encoding: .utf8)
    }
    #expect(try Self.blocks("README.md").dropFirst() == examples[...])
    #expect(try Self.blocks("Sources/Egress/Egress.docc/Egress.md").first == examples[1])
  }

  /// In a function each, which has what the page leaves to its reader.
  @Test func theOtherBlocksOfTheEgressPageAreCompiled() throws {
    let code = try String(contentsOf: Self.folder.appending(path: "EgressPage.swift"), encoding: .utf8)
    for block in try Self.blocks("Sources/Egress/Egress.docc/Egress.md").dropFirst() {
      let lines = block.split(separator: "\n").filter { !$0.hasPrefix("import ") }.map { "    \($0)\n" }
      #expect(code.contains(lines.joined()), "\(block)")
    }
  }

  /// Also those that only some outputs, or a mixed room, need.
  @Test func everyPackageThatARecordingNeedsIsNamed() throws {
    let store = TemplateStore(searchPath: TemplateSearchPath(folders: [.builtIn]))
    var packages: Set<String> = []
    for entry in try store.list([.mix, .tile, .process, .encode, .decode, .receive, .output]).entries {
      let template = try store.read(entry)
      let required = template.variables.filter { $0.defaultValue == nil }.map { ($0.name, "x") }
      let filled = try template.fill(Dictionary(uniqueKeysWithValues: required))
      let factories = filled.elements.map(\.factory).filter {
        !ElementPackage.isHardware($0) && !ElementPackage.isOptional($0)
      }
      packages.formUnion(factories.compactMap { ElementPackage.debian(forElement: $0) })
    }
    #expect(packages.count > 4)
    // GStreamer itself comes with any of them.
    packages.remove("libgstreamer1.0-0")
    for page in ["README.md", "Sources/MediaBridge/MediaBridge.docc/GettingStarted.md"] {
      let text = try String(contentsOf: Self.folder.appending(path: "../../\(page)"), encoding: .utf8)
      for package in packages { #expect(text.contains(package), "\(package): \(page)") }
    }
  }

  @Test func theRecordingEndsWithTheRoom() async throws {
    let folder = try TemporaryFolder()
    let room = try await SyntheticRoom.start(codecs: ["alice": "vp8"])
    let token = try SyntheticRoom.token("recorder")
    let recording = Task { try await recordRoom(url: room.url, token: token, into: folder.path + "/room.mp4") }
    try await eventually("the file") {
      let file = try? FileManager.default.attributesOfItem(atPath: folder.path + "/room.mp4")
      return (file?[.size] as? Int ?? 0) > 0
    }
    await room.publishers["alice"]?.disconnect()
    let info = try await recording.value
    #expect(info.status == .complete && info.endReason == .sourceClosed && info.fileResults.first?.size ?? 0 > 1000)
    await room.stop()
  }

  @Test func aRoomThatIsGoneIsAnError() async throws {
    let folder = try TemporaryFolder()
    let room = try await SyntheticRoom.start()
    let (file, token) = (folder.path + "/room.mp4", try SyntheticRoom.token("recorder"))
    let recording = Task { try await recordRoom(url: room.url, token: token, into: file) }
    try await eventually("the file") {
      ((try? FileManager.default.attributesOfItem(atPath: file))?[.size] as? Int ?? 0) > 0
    }
    room.server.removeParticipant("recorder")
    await #expect(throws: LiveKitError.self) { try await recording.value }
    await room.stop()
  }

  @Test func framesAreNotCountedOnInARoomThatIsGone() async throws {
    let room = try await SyntheticRoom.start(codecs: [:])
    let watcher = Room(roomOptions: RoomOptions(autoSubscribe: false))
    try await watcher.connect(url: room.url, token: try SyntheticRoom.token("watcher"))
    // One that the others see.
    let token = try SyntheticRoom.token("counter", VideoGrant.publisher(room: SyntheticRoom.name))
    let counting = Task { [url = room.url] in try await countFrames(url: url, token: token, for: .seconds(3)) }
    try await eventually("the counter") { watcher.remoteParticipants["counter"] != nil }
    room.server.removeParticipant("counter")
    await #expect(throws: LiveKitError.self) { try await counting.value }
    await watcher.disconnect()
    await room.stop()
  }

  @Test func nobodyStaysInTheRoomAfterAnError() async throws {
    let room = try await SyntheticRoom.start()
    let watcher = Room(roomOptions: RoomOptions(autoSubscribe: false))
    try await watcher.connect(url: room.url, token: try SyntheticRoom.token("watcher"))
    let gone = Collector<String>(watcher.events) { event in
      if case .participantDisconnected(let participant) = event { participant.identity } else { nil }
    }
    // One that the others see.
    let token = try SyntheticRoom.token("recorder", VideoGrant.publisher(room: SyntheticRoom.name))
    await #expect(throws: LiveKitError.self) {
      try await recordRoom(url: room.url, token: token, into: "/dev/null/room.mp4")
    }
    try await eventually("the end of the session") { gone.values == ["recorder"] }
    await watcher.disconnect()
    await room.stop()
  }

  @Test func theCameraIsShown() async throws {
    let room = try await SyntheticRoom.start(codecs: [:])
    let grant = VideoGrant.publisher(room: SyntheticRoom.name)
    let token = try SyntheticRoom.token("camera", grant)
    let camera = Task {
      try await showCamera(
        url: room.url, token: token, options: CameraCaptureOptions(template: "pattern"), for: .seconds(4))
    }
    let frames = try await countFrames(
      url: room.url, token: try SyntheticRoom.token("counter"), for: .seconds(4))
    try await camera.value
    #expect(frames > 30)
    await room.stop()
  }

  @Test func theExampleCountsFrames() async throws {
    let room = try await SyntheticRoom.start(codecs: ["alice": "vp8", "bob": "h264"])
    let frames = try await countFrames(
      url: room.url, token: try SyntheticRoom.token("counter"), for: .seconds(2))
    await room.stop()
    #expect((50...110).contains(frames), "\(frames) frames of two participants with 25 a second")
  }
}
