import BridgeTesting
import Foundation
import PipelineTemplates
import Testing

@testable import Egress
@testable import MediaBridge
@testable import MediaPipelines

/// What is written into the files of playlists.
@Suite struct SegmentPlaylistsTests {
  private let folder: TemporaryFolder
  private let file: String
  private let claim: FileClaim

  init() throws {
    folder = try TemporaryFolder()
    file = "\(folder.path)/a.m3u8"
    claim = try FileClaim(file)
  }

  private func playlists(
    _ values: [String: String] = [:], live: SegmentPlaylists.Live? = nil
  ) throws -> SegmentPlaylists {
    let factory = PipelineFactory(folder: nil, overrides: values)
    let planner = try OutputPlanner(Destination(location: file), factory: factory)
    return SegmentPlaylists(try #require(planner.segments), claim, live: live)
  }

  private func segment(_ name: String) -> MediaPlaylist.Segment {
    MediaPlaylist.Segment(name: name, duration: .seconds(4), date: Date(timeIntervalSince1970: 0))
  }

  private func text() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

  /// Another one where the file is written anew.
  private func number() throws -> UInt64 {
    var status = stat()
    let result = stat(file, &status)
    try #require(result == 0)
    return UInt64(status.st_ino)
  }

  /// If it were written anew with each segment, that would be more than the media of a day.
  @Test func anEventIsAddedTo() throws {
    var playlists = try playlists()
    var expected = MediaPlaylist(.event, targetDuration: 4, initialization: "a_init.mp4")
    var numbers: Set<UInt64> = []
    for number in 0..<4 {
      if number == 2 {
        playlists.resume(initialization: "a_init-2.mp4")
        expected.resume(initialization: "a_init-2.mp4")
      }
      expected.append(segment("a_\(number).m4s"))
      try playlists.list(segment("a_\(number).m4s"), targetDuration: 4, initialization: "\(folder.path)/a_init.mp4")
      let (written, listed) = (try text(), expected.text(isOver: false))
      #expect(written == listed)
      numbers.insert(try self.number())
    }
    try playlists.finish()
    numbers.insert(try number())
    let (written, listed) = (try text(), expected.text(isOver: true))
    #expect(written == listed && numbers.count == 1)
    #expect(claim.loss == nil && claim.bytes == Int64(written.utf8.count))
  }

  /// Of segments with something in front it asks for another version.
  @Test func aHeadThatChangesIsWrittenAnew() throws {
    var playlists = try playlists()
    try playlists.list(segment("a_0.ts"), targetDuration: 4, initialization: nil)
    playlists.resume(initialization: "a_init.mp4")
    for name in ["a_1.m4s", "a_2.m4s"] { try playlists.list(segment(name), targetDuration: 4, initialization: nil) }
    try playlists.finish()
    let lines = try text().split(separator: "\n")
    #expect(lines[1] == "#EXT-X-VERSION:6" && lines.last == "#EXT-X-ENDLIST")
    #expect(lines.filter { !$0.hasPrefix("#") } == ["a_0.ts", "a_1.m4s", "a_2.m4s"])
    #expect(lines.count(where: { $0.hasPrefix("#EXT-X-MAP:") }) == 1)
  }

  @Test func aLiveOneIsWrittenAnew() throws {
    var playlists = try playlists(["playlist": "live", "live-segments": "3"])
    for number in 0..<5 { try playlists.list(segment("a_\(number).ts"), targetDuration: 4, initialization: nil) }
    try playlists.finish()
    let lines = try text().split(separator: "\n")
    #expect(lines.filter { !$0.hasPrefix("#") } == ["a_2.ts", "a_3.ts", "a_4.ts"])
    #expect(lines.count(where: { $0 == "#EXT-X-ENDLIST" }) == 1 && lines.last == "#EXT-X-ENDLIST")
  }

  /// Its file goes, so that it is in no list in the end.
  @Test func aSegmentThatTheLiveOneCannotListIsTakenOutOfTheOther() throws {
    let place = "\(folder.path)/live"
    var playlists = try playlists(live: try SegmentPlaylists.Live("\(place)/live.m3u8"))
    try playlists.list(segment("a_0.ts"), targetDuration: 4, initialization: nil)
    try FileManager.default.removeItem(atPath: place)
    #expect(throws: LiveKitError.self) {
      try playlists.list(segment("a_1.ts"), targetDuration: 4, initialization: nil)
    }
    #expect(throws: LiveKitError.self) { try playlists.finish() }
    let lines = try text().split(separator: "\n")
    #expect(lines.filter { !$0.hasPrefix("#") } == ["a_0.ts"] && lines.last == "#EXT-X-ENDLIST")
  }

  @Test func aLiveOneGoesOnWithTheNumbersOfTheRecordingBefore() async throws {
    let path = "\(folder.path)/live.m3u8"
    var before = try playlists(live: try SegmentPlaylists.Live(path))
    for number in 0..<7 { try before.list(segment("a_\(number).ts"), targetDuration: 4, initialization: nil) }
    try before.finish()
    let live = try await eventually("that it is given back") { try? SegmentPlaylists.Live(path) }
    var next = try playlists(live: live)
    try next.list(segment("b_0.ts"), targetDuration: 2, initialization: nil)
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    #expect(lines[2...4] == ["#EXT-X-TARGETDURATION:4", "#EXT-X-MEDIA-SEQUENCE:7", "#EXT-X-DISCONTINUITY"])
    #expect(lines.filter { !$0.hasPrefix("#") } == ["b_0.ts"] && lines.last == "b_0.ts")
    let all = try text()
    #expect(all.contains("#EXT-X-TARGETDURATION:2\n") && !all.contains("#EXT-X-DISCONTINUITY"))
  }

  @Test func whatIsNoLiveOneIsBegunAnew() throws {
    let path = "\(folder.path)/live.m3u8"
    try Data([0xff, 0, 0x0a]).write(to: URL(fileURLWithPath: path))
    var playlists = try playlists(live: try SegmentPlaylists.Live(path))
    try playlists.list(segment("a_0.ts"), targetDuration: 4, initialization: nil)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains("#EXT-X-MEDIA-SEQUENCE:0\n") && !text.contains("#EXT-X-DISCONTINUITY"))
  }

  @Test func theLiveOneEndsWhereTheOtherCannot() throws {
    let path = "\(folder.path)/live.m3u8"
    var playlists = try playlists(live: try SegmentPlaylists.Live(path))
    try playlists.list(segment("a_0.ts"), targetDuration: 4, initialization: nil)
    try FileManager.default.removeItem(atPath: file)
    #expect { try playlists.finish() } throws: { "\($0)".contains("a.m3u8 was removed") }
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.hasSuffix("#EXT-X-ENDLIST\n"))
  }

  /// On a full disk there may be room for its end, and none for all of it once more.
  @Test func whatCannotBeAddedLeavesTheFileAsItIs() throws {
    var playlists = try playlists()
    try playlists.list(segment("a_0.ts"), targetDuration: 4, initialization: nil)
    let (before, away) = (try number(), "\(folder.path)/away.m3u8")
    try FileManager.default.moveItem(atPath: file, toPath: away)
    #expect(throws: LiveKitError.self) {
      try playlists.list(segment("a_1.ts"), targetDuration: 4, initialization: nil)
    }
    try FileManager.default.moveItem(atPath: away, toPath: file)
    try playlists.finish()
    let (after, lines) = (try number(), try text().split(separator: "\n"))
    #expect(after == before, "it was written anew")
    #expect(lines.filter { !$0.hasPrefix("#") } == ["a_0.ts"] && lines.last == "#EXT-X-ENDLIST")
  }
}
