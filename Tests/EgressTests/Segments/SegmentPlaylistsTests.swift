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
}
