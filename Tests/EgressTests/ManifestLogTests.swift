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

  /// A room of many hours: up to when all is there is said.
  @Test func turnsThatAreLeftOutAreTold() {
    var log = SpeakerLog()
    for second in stride(from: 0, to: 3 * SpeakerLog.limit, by: 3) {
      log.note(["alice"], at: .seconds(second))
      log.note([], at: .seconds(second + 1))
    }
    let end = Duration.seconds(3 * SpeakerLog.limit)
    #expect(log.end(until: end) == nil && log.turns(until: end).count == SpeakerLog.limit)
    log.note(["alice"], at: end)
    #expect(log.end(until: end + .seconds(1)) == end)
    log.note([], at: end + .seconds(1))
    log.note(["bob"], at: end + .seconds(2))
    #expect(log.end(until: end + .seconds(3)) == end && log.turns(until: end).count == SpeakerLog.limit)
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

  /// As of a shared screen that changes every few seconds.
  @Test func theGapsOfADayAreAllThere() {
    var log = GapLog()
    for second in stride(from: 0, to: 86_400, by: 3) { log.came(at: .seconds(second)) }
    let gaps = log.gaps(until: .seconds(86_400))
    #expect(gaps.count == 28_800 && gaps.last?.to == .seconds(86_400))
  }

  /// Who is not seen misses nothing, nor who comes later or has gone.
  @Test func whatIsMixedHasGapsOfItsOwn() {
    var room = MixedRoom()
    func look(_ now: Int, _ newest: [String: Int?]) { room.look(now, newest) }
    for now in stride(from: 0, to: 4000, by: 200) { look(now, ["A": now]) }
    // B comes, and is muted to begin with; A freezes, and B has no place for a while.
    for now in stride(from: 4000, to: 7000, by: 200) { look(now, ["A": 3900, "B": nil]) }
    for now in stride(from: 7000, to: 9000, by: 200) { look(now, ["A": now]) }
    for now in stride(from: 9000, to: 12_000, by: 200) { look(now, ["A": now, "B": now]) }
    look(12_000, [:])
    var spans = room.spans(until: 20_000)
    #expect(
      spans == [
        .init(kind: "video", identity: "of A", trackId: "A", from: .seconds(3.9), to: .seconds(7)),
        .init(kind: "video", identity: "of B", trackId: "B", from: .seconds(4), to: .seconds(7)),
      ])
    look(12_200, ["A": 11_800])
    spans = room.spans(until: 14_000)
    #expect(spans.last?.from == 12.2, "what has a place again and brings nothing")
  }

  /// Nobody looks for three seconds, as while signalling is away, or on a busy machine.
  @Test func whatComesWhileNobodyLooksIsNoGap() {
    var room = MixedRoom()
    room.look(0, ["A": 0, "B": 0, "C": 0])
    for time in stride(from: 0, through: 3400, by: 40) { room.come("A", at: time) }
    for time in [40, 80, 1300, 1340, 2500, 3390] { room.come("B", at: time) }
    for time in stride(from: 40, through: 2900, by: 40) { room.come("C", at: time) }
    // C has gone meanwhile.
    room.look(3400, ["A": nil, "B": nil])
    for time in stride(from: 3440, through: 6000, by: 40) { room.come("A", at: time) }
    for time in [3430, 4000, 4900] { room.come("B", at: time) }
    // The last look was long before the end.
    let spans = room.spans(until: 5900)
    #expect(spans == [span("B", 80, 1300), span("B", 1340, 2500), span("B", 4900, 5900)])
  }

  /// What comes after the end, while the rest is being mixed, is not in it.
  @Test func aGapEndsWithTheJob() {
    var room = MixedRoom()
    room.look(0, ["A": 0, "B": 0])
    room.come("A", at: 100)
    room.come("A", at: 3000)
    room.come("B", at: 1500)
    room.come("B", at: 2600)
    let spans = room.spans(until: 2000)
    #expect(spans == [span("B", 0, 1500), span("A", 100, 2000)])
  }

  private func span(_ sid: String, _ from: Int, _ to: Int) -> Manifest.Span {
    Manifest.Span(
      kind: "video", identity: "of \(sid)", trackId: sid, from: .milliseconds(from), to: .milliseconds(to))
  }

  /// Tracks that come in milliseconds of a job.
  private struct MixedRoom {
    private var gaps = TrackGaps()
    private var watches: [String: GapWatch] = [:]
    private static let begin = MediaTime(nanoseconds: 1_000_000_000_000)

    mutating func come(_ sid: String, at time: Int) { watch(sid).came(at: Self.begin + .milliseconds(time)) }

    /// - Parameter newest: of those that have a place, what has come; nil where nothing has since.
    mutating func look(_ now: Int, _ newest: [String: Int?]) {
      for (sid, time) in newest { if let time { come(sid, at: time) } }
      let places = newest.keys.map { sid in
        TrackGaps.Place(sid: sid, kind: .video, identity: "of \(sid)", watch: watch(sid))
      }
      gaps.note(places, age: { $0 - Self.begin }, at: .milliseconds(now))
    }

    mutating func spans(until length: Int) -> [Manifest.Span] {
      gaps.take { $0 - Self.begin }
      return gaps.spans(until: .milliseconds(length))
    }

    private mutating func watch(_ sid: String) -> GapWatch {
      let watch = watches[sid] ?? GapWatch()
      watches[sid] = watch
      return watch
    }
  }

  /// As LiveKit Egress lists them; what holds no media is no file, nor is what could not be opened.
  @Test func playlistsAndImagesAreNoFiles() throws {
    func status(
      _ location: String, _ kind: DestinationStatus.Kind, _ segments: [String] = [], bytes: Int64 = 9
    ) -> DestinationStatus {
      var status = DestinationStatus(Destination(location: location), bytes > 0 ? .complete : .failed)
      (status.kind, status.segments, status.bytes) = (kind, segments, bytes)
      return status
    }
    var progress = OutputProgress()
    progress.destinations = [
      status("a/call.mp4", .file), status("hls/live.m3u8", .segments, ["hls/live_00000.ts", "hls/live_00001.ts"]),
      status("shots/shot.jpeg", .images, ["shots/shot_00000.jpeg"]), status("rtmp://server/live/{…}", .stream),
      status("a/never.mp4", .file, bytes: 0), status("hls/never.m3u8", .segments, bytes: 0),
    ]
    let begin = Date(timeIntervalSince1970: 1000)
    let manifest = Manifest(
      progress, of: Room(), nil, from: begin, to: begin + 70, .seconds(10), tracks: [], gaps: [],
      speakers: SpeakerLog())
    #expect(manifest.files.map(\.location) == ["a/call.mp4"])
    let playlist = try #require(manifest.playlists?.first)
    #expect(manifest.playlists?.count == 1)
    #expect(playlist.location == "hls/live.m3u8")
    #expect(playlist.segments.map(\.filename) == ["live_00000.ts", "live_00001.ts"])
    #expect(manifest.images?.map(\.filename) == ["shot_00000.jpeg"] && manifest.destinations.count == 6)
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

  /// As where the place of one of them is taken.
  @Test func aManifestThatCannotBeWrittenKeepsBackNoOther() throws {
    let folder = try TemporaryFolder()
    let taken = "\(folder.path)/a.mp4.json/x"
    try FileManager.default.createDirectory(atPath: taken, withIntermediateDirectories: true)
    var progress = OutputProgress()
    progress.destinations = ["a.mp4", "b.mp4"].map { name in
      var status = DestinationStatus(Destination(location: "\(folder.path)/\(name)"), .complete)
      (status.kind, status.bytes) = (.file, 9)
      return status
    }
    let manifest = Manifest(
      progress, of: Room(), nil, from: Date(), to: Date(), .seconds(10), tracks: [], gaps: [], speakers: SpeakerLog())
    let written = manifest.writeAll()
    #expect(written.files == ["\(folder.path)/b.mp4.json"] && written.failures.count == 1)
    let error = #expect(throws: LiveKitError.self) { try manifest.write() }
    #expect(error?.message.contains("a.mp4.json") == true)
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
