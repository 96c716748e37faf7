import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaBridge
import Testing

/// The examples of the README stand in `ReadmeExample.swift` and the like, where they are compiled.
/// `Tests/Long` builds the first in a package of its own, with the manifest that stands before it.
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
