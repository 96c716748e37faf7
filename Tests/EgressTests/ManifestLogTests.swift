import BridgeTesting
import Foundation
import MediaBridge
import MediaCore
import PipelineTemplates
import Testing

@testable import Egress

/// What a manifest tells of times: who spoke, and when nothing came.
@Suite struct ManifestLogTests {
  @Test func aPauseForBreathEndsNoTurn() {
    var log = SpeakerLog()
    log.note(["alice"], at: .seconds(1))
    log.note(["alice", "bob"], at: .seconds(2))
    log.note(["bob"], at: .seconds(3))
    log.note(["alice", "bob"], at: .seconds(3.5))
    log.note([], at: .seconds(5))
    log.note(["alice"], at: .seconds(8))
    #expect(
      log.turns(until: .seconds(9)) == [
        .init(identity: "alice", from: .seconds(1), to: .seconds(5)),
        .init(identity: "bob", from: .seconds(2), to: .seconds(5)),
        .init(identity: "alice", from: .seconds(8), to: .seconds(9)),
      ])
  }

  @Test func aGapIsASecondWithoutAnything() {
    var log = GapLog()
    for start in stride(from: 0, to: 3000, by: 20) { log.came(at: .milliseconds(start), for: .milliseconds(20)) }
    log.came(at: .milliseconds(3500), for: .milliseconds(20))
    log.came(at: .milliseconds(8520), for: .milliseconds(20))
    let gap = GapLog.Gap(from: .milliseconds(3520), to: .milliseconds(8520))
    #expect(log.gaps(until: .milliseconds(9000)) == [gap])
    let last = GapLog.Gap(from: .milliseconds(8540), to: .milliseconds(10_000))
    #expect(log.gaps(until: .milliseconds(10_000)) == [gap, last])
  }

  /// Who is not seen misses nothing, nor who comes later or has gone.
  @Test func whatIsMixedHasGapsOfItsOwn() {
    var gaps = TrackGaps()
    func look(_ now: Int, _ newest: [String: Int?]) {
      gaps.note(
        newest.map { sid, newest in
          TrackGaps.Place(sid: sid, kind: .video, identity: "of \(sid)", newest: newest.map { .milliseconds($0) })
        }, at: .milliseconds(now))
    }
    for now in stride(from: 0, to: 4000, by: 200) { look(now, ["A": now]) }
    // B comes, and is muted to begin with; A freezes, and B has no place for a while.
    for now in stride(from: 4000, to: 7000, by: 200) { look(now, ["A": 3900, "B": nil]) }
    for now in stride(from: 7000, to: 9000, by: 200) { look(now, ["A": now]) }
    for now in stride(from: 9000, to: 12_000, by: 200) { look(now, ["A": now, "B": now]) }
    look(12_000, [:])
    #expect(
      gaps.spans(until: .seconds(20)) == [
        .init(kind: "video", identity: "of A", trackId: "A", from: .seconds(3.9), to: .seconds(7)),
        .init(kind: "video", identity: "of B", trackId: "B", from: .seconds(4), to: .seconds(7)),
      ])
    look(12_200, ["A": 11_800])
    #expect(gaps.spans(until: .seconds(14)).last?.from == 12.2, "what has a place again and brings nothing")
  }

  /// As LiveKit Egress lists them; what holds no media is no file.
  @Test func playlistsAndImagesAreNoFiles() throws {
    func status(_ location: String, _ kind: DestinationStatus.Kind, _ segments: [String] = []) -> DestinationStatus {
      var status = DestinationStatus(Destination(location: location), .complete)
      (status.kind, status.segments) = (kind, segments)
      return status
    }
    var progress = OutputProgress()
    progress.destinations = [
      status("a/call.mp4", .file), status("hls/live.m3u8", .segments, ["hls/live_00000.ts", "hls/live_00001.ts"]),
      status("shots/shot.jpeg", .images, ["shots/shot_00000.jpeg"]), status("rtmp://server/live/{…}", .stream),
    ]
    let begin = Date(timeIntervalSince1970: 1000)
    let manifest = Manifest(
      progress, of: Room(), nil, from: begin, to: begin + 70, .seconds(10), tracks: [], gaps: [],
      speakers: SpeakerLog())
    #expect(manifest.files.map(\.location) == ["a/call.mp4"])
    let playlist = try #require(manifest.playlists?.first)
    #expect(playlist.location == "hls/live.m3u8")
    #expect(playlist.segments.map(\.filename) == ["live_00000.ts", "live_00001.ts"])
    #expect(manifest.images?.map(\.filename) == ["shot_00000.jpeg"] && manifest.destinations.count == 4)
    #expect(manifest.endedAt - manifest.startedAt == 70_000_000_000, "the pauses are a part of the day")
    let text = String(decoding: try manifest.json, as: UTF8.self)
    #expect(text.contains("\"playlists\"") && !text.contains("egress_id"))
  }

  /// As by a command for each complete file, which may move it, or all of its folder.
  @Test func whatWasMovedAwayHasAManifestAllTheSame() throws {
    let folder = try TemporaryFolder()
    func status(_ name: String, bytes: Int64) -> DestinationStatus {
      var status = DestinationStatus(Destination(location: "\(folder.path)/\(name)"), .complete)
      (status.kind, status.bytes) = (.file, bytes)
      return status
    }
    var progress = OutputProgress()
    progress.destinations = [
      status("gone/moved.mp4", bytes: 9), status("moved.mp4", bytes: 9), status("none.mp4", bytes: 0),
    ]
    let manifest = Manifest(
      progress, of: Room(), nil, from: Date(), to: Date(), .seconds(10), tracks: [], gaps: [], speakers: SpeakerLog())
    try manifest.write()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["moved.mp4.json"])
  }

  /// A room of days: what was asked for is never pushed out by what was not.
  @Test func whatWasWantedIsAlwaysTold() {
    func omission(_ number: Int, wasWanted: Bool) -> Omission {
      Omission(
        sid: "TR_\(number)", kind: .video, source: .screenShareVideo, participant: "alice", reason: "",
        wasWanted: wasWanted)
    }
    var list = OmissionList()
    let first = list.note(omission(0, wasWanted: true))
    #expect(first)
    for number in 1...500 { _ = list.note(omission(number, wasWanted: false)) }
    let last = list.note(omission(501, wasWanted: true))
    #expect(last && list.all.filter(\.wasWanted).map(\.sid) == ["TR_0", "TR_501"] && list.all.count == 200)
    for number in 600...900 { _ = list.note(omission(number, wasWanted: true)) }
    let again = list.note(omission(1000, wasWanted: false))
    #expect(!again, "it is not told again and again")
    let news = [list.note(omission(901, wasWanted: true)), list.note(omission(901, wasWanted: true))]
    #expect(news == [true, false] && list.has("TR_901"), "it is told, and counted once")
    #expect(list.all.count == 201 && list.all.last?.wasWanted == true)
    #expect(list.all.last.map { "\($0)" } == "and 104 more tracks that were asked for")
    list.came("TR_900")
    #expect(list.all.last.map { "\($0)" } == "and 103 more tracks that were asked for")
    for number in 2000...20_000 { _ = list.note(omission(number, wasWanted: true)) }
    #expect(list.all.last.map { "\($0)" } == "and at least 10000 more tracks that were asked for")
  }
}
