import BridgeTesting
import Foundation
import PipelineTemplates
import Testing

@testable import Egress
@testable import MediaBridge
@testable import MediaPipelines

/// What the variables of a template say about segments, and what cannot be.
@Suite struct SegmentOptionsTests {
  private func options(_ values: [String: String] = [:], of name: String = "hls") throws -> SegmentOptions? {
    let factory = PipelineFactory(folder: nil, overrides: values)
    return try OutputPlanner(Destination(location: "/tmp/x.m3u8", output: name), factory: factory).segments
  }

  private func error(_ values: [String: String]) -> String {
    do { return "\(String(describing: try options(values)))" } catch { return "\(error)" }
  }

  @Test func withoutValuesTheyAreThoseOfEgress() throws {
    let options = try #require(try options())
    #expect(options.duration == .seconds(4) && options.playlist == .event && options.liveSegments == 5)
    #expect(options.livePlaylist == nil && !options.deletesSegments)
    #expect(try self.options(of: "mp4") == nil)
  }

  @Test func keyframesComeAsOftenAsSegments() throws {
    let factory = PipelineFactory(folder: nil, overrides: ["segment-duration": "2.5"])
    let planner = try OutputPlanner(Destination(location: "x.m3u8"), factory: factory)
    #expect(planner.keyframeInterval == .seconds(2.5))
    #expect(try planner.plan([.video: TrackTraits(codec: "h264")]).feeds[.video]?.way == .asSent)
  }

  @Test func imagesComeEverySoOftenAndAskForNoKeyframe() throws {
    for (file, name) in [("a.jpg", "images"), ("a.jpeg", "images"), ("a.png", "images-png")] {
      let planner = try OutputPlanner(Destination(location: file), factory: PipelineFactory(folder: nil))
      #expect(planner.template.name == name && planner.keyframeInterval == nil && planner.kinds == [.video])
      #expect(planner.segments?.imageInterval == .seconds(10) && planner.segments?.suffix == .index)
      #expect(try planner.plan([.video: TrackTraits(codec: "h264")]).feeds[.video]?.way == .raw)
    }
    #expect(try options()?.imageInterval == nil)
  }

  @Test func whatCannotBeIsSaid() {
    #expect(error(["segment-duration": "no"]).contains("'no' is no value for `segment-duration`: give seconds"))
    #expect(error(["segment-duration": "0"]).contains("no value"))
    #expect(error(["playlist": "vod"]).contains("give live or event"))
    #expect(error(["live-segments": "0"]).contains("give a number of segments"))
    #expect(error(["delete-segments": "true"]).contains("set playlist=live too"))
    #expect(error(["live-playlist": "../live.m3u8"]).contains("a name in the folder of the playlist"))
    #expect(error(["live-playlist": "a.m3u8", "playlist": "live"]).contains("leave out playlist=live"))
    #expect(error(["filename-suffix": "none"]).contains("give index or timestamp"))
  }

  @Test(arguments: ["a_00007.ts", "a_123456.m4s", "a_init.mp4", "live.m3u8"])
  func nothingOldIsReplacedUnasked(name: String) async throws {
    let folder = try TemporaryFolder()
    var options = RecordingOptions(file: folder.path + "/a.m3u8", values: ["live-playlist": "live.m3u8"])
    options.replacesFiles = false
    for other in ["a_one.ts", "b_00000.ts", "a_1.ts"] {
      try "old".write(toFile: folder.path + "/" + other, atomically: false, encoding: .utf8)
    }
    try RecordingTargets.claimed(options).release()
    try await FileClaim.untilFree(folder.path + "/a.m3u8")
    try "old".write(toFile: folder.path + "/" + name, atomically: false, encoding: .utf8)
    #expect { try RecordingTargets.claimed(options) } throws: { "\($0)".contains("\(name) exists already") }
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/a.m3u8"))
    options.replacesFiles = true
    try RecordingTargets.claimed(options).release()
  }

  /// In one folder those of several would be one file.
  @Test(arguments: [(RecorderGroup.Unit.participant, "{publisher_identity}"), (.track, "{track_id}")])
  func eachHasALivePlaylistOfItsOwn(unit: RecorderGroup.Unit, placeholder: String) throws {
    let folder = try TemporaryFolder()
    func check(_ name: String) throws {
      let all = RecordingOptions(file: "\(folder.path)/\(name)", values: ["live-playlist": "now.m3u8"])
      var options = RecorderGroup.memberOptions(all, each: unit)
      var targets = try RecordingTargets(options, folder: nil)
      try targets.check(&options)
    }
    #expect { try check("\(placeholder).m3u8") } throws: { "\($0)".contains("put \(placeholder) into the folder") }
    try check("\(placeholder)/call.m3u8")
  }

  @Test func oneThatIsAddedBesidePartsHasNoLivePlaylistOfAll() throws {
    let folder = try TemporaryFolder()
    var options = RecordingOptions(file: folder.path + "/a.mkv")
    options.parts = PartLimit(duration: .seconds(60))
    var targets = try RecordingTargets.claimed(options)
    defer { targets.release() }
    let added = OutputDestination(folder.path + "/b.m3u8", values: ["live-playlist": "now.m3u8"])
    #expect {
      try targets.add(added, options, folder: nil, loggers: Loggers())
    } throws: {
      "\($0)".contains("b.m3u8: parts are asked for")
    }
  }

  @Test func imagesOfAnotherEndingAreNotReplaced() async throws {
    let folder = try TemporaryFolder()
    var options = RecordingOptions(file: folder.path + "/a.jpg")
    options.replacesFiles = false
    for other in ["a_00000.jpeg", "a_00000.png", "a_init.mp4"] {
      try "old".write(toFile: folder.path + "/" + other, atomically: false, encoding: .utf8)
    }
    try RecordingTargets.claimed(options).release()
    try await FileClaim.untilFree(folder.path + "/a.jpg")
    try "old".write(toFile: folder.path + "/a_00003.jpg", atomically: false, encoding: .utf8)
    #expect { try RecordingTargets.claimed(options) } throws: { "\($0)".contains("a_00003.jpg exists already") }
  }

  @Test func aPlaylistIsCalledSo() throws {
    func error(_ location: String, _ name: String) -> String? {
      do {
        _ = try OutputPlanner(Destination(location: location, output: name), factory: PipelineFactory(folder: nil))
        return nil
      } catch { return "\(error)" }
    }
    #expect(error("w/m.mp4", "hls-fmp4")?.contains("write w/m.m3u8") == true)
    let right = [
      ("w/m.M3U8", "hls-fmp4"), ("w/m", "hls"), ("w/alice.smith", "hls"), ("w/{room_name}.{time}", "hls"),
      ("m.jpg", "images"), ("m.mp4", "mp4"),
    ]
    for (location, name) in right {
      #expect(error(location, name) == nil, "\(location)")
    }
  }

  @Test func aPlaylistThatIsReplacedIsStillHeld() throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/a.m3u8"
    let claim = try FileClaim(file)
    for text in ["one", "two\n"] {
      try claim.replace(with: Array(text.utf8))
      #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
      #expect(claim.loss == nil && claim.bytes == Int64(text.utf8.count))
      #expect(throws: LiveKitError.self) { _ = try FileClaim(file) }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.m3u8"])
    try "else".write(toFile: file, atomically: true, encoding: .utf8)
    #expect { try claim.replace(with: []) } throws: { "\($0)".contains("was replaced by another file") }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "else")
  }
}

extension RecordingTargets {
  /// Those of the options, with their files.
  fileprivate static func claimed(_ options: RecordingOptions) throws -> RecordingTargets {
    var targets = try RecordingTargets(options, folder: nil)
    try targets.claim()
    return targets
  }
}
