import BridgeTesting
import Foundation
import MediaBridge
import MediaCore
import Testing

/// The code of the page "Getting started" stands beside this file, where it is compiled, and does what the page says.
@Suite struct GettingStartedTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let page = folder.appending(
    path: "../../../Sources/MediaBridge/MediaBridge.docc/GettingStarted.md")

  /// The first one is the program's `Package.swift`.
  private static func blocks() throws -> [String] {
    try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst()
      .map { $0.components(separatedBy: "```")[0] }
  }

  @Test func thePageShowsWhatIsCompiled() throws {
    let code = try ["Joining", "FirstFrame", "Speech", "Recording"].map {
      try String(contentsOf: Self.folder.appending(path: "\($0).swift"), encoding: .utf8)
    }
    #expect(try Self.blocks().dropFirst() == code[...])
  }

  @Test func thePackageIsOne() throws {
    let folder = try TemporaryFolder()
    try #require(try Self.blocks().first).write(
      toFile: folder.path + "/Package.swift", atomically: true, encoding: .utf8)
    let dump = try run("swift", ["package", "--package-path", folder.path, "dump-package"])
    #expect(dump.status == 0, "\(dump.errors)")
    #expect(dump.output.contains("\"MediaBridge\"") && dump.output.contains("\"mediabridge\""))
  }

  @Test func everyStepWorks() async throws {
    let folder = try TemporaryFolder()
    let room = try await SyntheticRoom.start()
    let token = try SyntheticRoom.token("beginner")
    #expect(try await identities(url: room.url, token: token) == ["alice"])

    let png = URL(filePath: folder.path + "/first.png")
    try await saveFirstFrame(url: room.url, token: token, to: png)
    #expect(try Data(contentsOf: png).prefix(4) == Data([0x89, 0x50, 0x4e, 0x47]))

    let file = folder.path + "/alice.mkv"
    let progress = try await record("alice", into: file, for: .seconds(1), url: room.url, token: token)
    #expect(progress.tracks.count == 2 && progress.duration > .milliseconds(800))
    #expect(try Data(contentsOf: URL(filePath: file)).count == Int(progress.bytes))
    await room.stop()
  }

  /// A recording that is cut short is none that is whole.
  @Test func aRoomThatIsGoneEndsTheRecording() async throws {
    let folder = try TemporaryFolder()
    let room = try await SyntheticRoom.start()
    let (file, token) = (folder.path + "/alice.mkv", try SyntheticRoom.token("beginner"))
    let recording = Task { try await record("alice", into: file, for: .seconds(600), url: room.url, token: token) }
    try await eventually("the file") {
      ((try? FileManager.default.attributesOfItem(atPath: file))?[.size] as? Int ?? 0) > 0
    }
    room.server.removeParticipant("beginner")
    await #expect(throws: LiveKitError.self) { try await recording.value }
    await room.stop()
  }

  @Test func whoSpeakAtTheSameTimeAreHeardApart() async throws {
    let room = try await SyntheticRoom.start(codecs: ["alice": "vp8", "bob": "vp8"], frequencies: ["bob": 660])
    let (listening, transcript) = (Room(), Transcript())
    listening.add(delegate: transcript)
    try await listening.connect(url: room.url, token: try SyntheticRoom.token("listener"))
    let heard = Locked<[String: [Int16]]>([:])
    try await eventually("a second of each") {
      let new = transcript.take()
      return heard.withLock { heard in
        heard.merge(new) { $0 + $1 }
        return heard.values.filter { $0.count > 16_000 }.count == 2
      }
    }
    await listening.disconnect()
    let lasts = heard.withLock { $0.values.map { $0.suffix(8000) } }
    // Sines of 0.3.
    for last in lasts { #expect((6000...14_000).contains(last.map(Int.init).max() ?? 0)) }
    let frequencies = lasts.map { last in
      2 * zip(last, last.dropFirst()).filter { $0.0 < 0 && $0.1 >= 0 }.count
    }
    .sorted()
    #expect((400...480).contains(frequencies[0]) && (620...700).contains(frequencies[1]), "\(frequencies)")
    await room.stop()
  }
}
