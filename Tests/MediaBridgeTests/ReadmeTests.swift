import BridgeTesting
import Foundation
import Testing

/// The example of the README stands in `ReadmeExample.swift`, where it is compiled. `Tests/Long` builds it in a package of
/// its own, with the manifest that stands before it.
@Suite struct ReadmeTests {
  private static let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("ReadmeExample.swift")
  private static let readme = example.deletingLastPathComponent().appendingPathComponent("../../README.md")

  @Test func theExampleIsTheOneThatIsCompiled() throws {
    let readme = try String(contentsOf: Self.readme, encoding: .utf8)
    let blocks = readme.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    let example = try String(contentsOf: Self.example, encoding: .utf8)
    #expect(blocks.count == 2 && blocks.last == example)
  }

  @Test func theExampleCountsFrames() async throws {
    let room = try await SyntheticRoom.start(codecs: ["alice": "vp8", "bob": "h264"])
    let frames = try await countFrames(
      url: room.url, token: try await SyntheticRoom.token("counter"), for: .seconds(2))
    await room.stop()
    #expect((50...110).contains(frames), "\(frames) frames of two participants with 25 a second")
  }
}
