import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import MediaPipelines
import PipelineTemplates
import RTP
import Testing

@testable import Egress
@testable import MediaBridge

/// A file whose camera is muted for a while, from access units and frames to the pixels that a player shows.
@Suite struct MutedFileTests {
  static let cases: [(name: String, test: StreamCase)] = [
    ("mkv", .vp8.sized(638, 358)), ("mkv", .vp9), ("webm", .av1.sized(638, 358)), ("mkv", .x264Main),
    ("mp4", .openH264), ("mp4", .x264FullRange),
  ]

  /// The moments of a stream of 25 frames a second, of which all have come.
  private struct Times {
    let start = MediaTime.now - .seconds(3)
    subscript(_ number: Int) -> MediaTime { start + .milliseconds(40 * number) }
  }

  @Test(arguments: cases.indices) func isBlackFromTheMuteToTheNextKeyframe(_ index: Int) async throws {
    let (name, test) = Self.cases[index]
    let folder = try TemporaryFolder()
    let wishes = Collector<Bool>()
    let output = try file(folder.path + "/muted." + name, test) { wishes.add(true) }
    let units = try await Video.units(test)
    let times = Times()
    for number in 0..<10 { output.writeVideo(units[number].media(at: times[number]), isRaw: false) }
    #expect(output.setMuted(true, at: times[10]))
    // What was on its way.
    for number in 10..<13 { output.writeVideo(units[number].media(at: times[number]), isRaw: false) }
    #expect(wishes.count == 0)
    #expect(output.setMuted(false, at: times[30]))
    for number in 30..<32 { output.writeVideo(units[number - 20].media(at: times[number]), isRaw: false) }
    #expect(wishes.count == 2, "frames that cannot be decoded are shown, or nobody asks for a keyframe")
    for number in 32..<44 { output.writeVideo(units[number - 32].media(at: times[number]), isRaw: false) }
    try await output.finish(at: times[44])
    #expect(output.written == 22)
    let levels = try Self.levels(output.file.destination.location)
    let black = levels.filter { $0.milliseconds >= 400 && $0.milliseconds < 1280 }
    #expect(black.first?.milliseconds == 400)
    #expect(black.allSatisfy { $0.luma == (test.hasFullRange ? 0...0 : 16...16) })
    let shown = levels.filter { !black.contains($0) }
    #expect(shown.map(\.milliseconds) == (0..<10).map { $0 * 40 } + (32..<44).map { $0 * 40 })
    #expect(shown.allSatisfy { $0.luma.upperBound > 60 })
  }

  /// The frame that begins a file was sent before the mute, and the file is not kept waiting for another one.
  @Test func aMuteRightAtTheBeginningIsBlackAtOnce() async throws {
    let folder = try TemporaryFolder()
    let output = try file(folder.path + "/begin.mkv", .vp8) {}
    let units = try await Video.units(.vp8)
    let times = Times()
    #expect(output.setMuted(true, at: times[0]))
    for number in 0..<5 { output.writeVideo(units[number].media(at: times[number]), isRaw: false) }
    try await output.finish()
    let levels = try Self.levels(output.file.destination.location)
    #expect(levels.first?.milliseconds == 0)
    #expect(levels.dropFirst().allSatisfy { $0.luma == 16...16 } && levels.count > 2)
  }

  @Test func framesThatAreEncodedAnewAreBlackToo() async throws {
    let folder = try TemporaryFolder()
    let output = try Self.output(
      folder.path + "/raw.mp4", codec: "vp8", size: Dimensions(width: 320, height: 160)
    ) {}
    let frame = try Quarters.frame(Dimensions(width: 318, height: 159))
    let times = Times()
    func write(_ numbers: Range<Int>) { output.show(frame.buffer.media, numbers.map { times[$0] }) }
    write(0..<10)
    #expect(output.setMuted(true, at: times[10]))
    write(10..<12)
    #expect(output.setMuted(false, at: times[30]))
    write(30..<40)
    try await output.finish(at: times[40])
    let levels = try Self.levels(output.file.destination.location)
    #expect(levels.last?.milliseconds == 39 * 40, "what waited for the encoder is not in the file")
    for level in levels {
      #expect((400..<1200).contains(level.milliseconds) == (level.luma.upperBound < 20), "at \(level.milliseconds) ms")
    }
  }

  @Test func whatCannotBeBlackIsSaidAndShowsItsLastFrame() async throws {
    let folder = try TemporaryFolder()
    let output = try file(folder.path + "/kept.mkv", .vp9Profile1) {}
    let units = try await Video.units(.vp9Profile1)
    let times = Times()
    for number in 0..<10 { output.writeVideo(units[number].media(at: times[number]), isRaw: false) }
    #expect(!output.setMuted(true, at: times[10]))
    try await output.finish()
    #expect(try Self.levels(output.file.destination.location).allSatisfy { $0.luma.upperBound > 60 })
  }

  /// Where the frames before it were left out, the multiplexer of .mp4 would move all of the video to its beginning.
  @Test(arguments: ["mkv", "mp4"]) func aFirstFrameThatIsLateIsShownFromTheBeginningOn(_ name: String) async throws {
    let folder = try TemporaryFolder()
    let kinds: [Track.Kind: TrackTraits] = [.video: TrackTraits(codec: "h264"), .audio: TrackTraits(codec: "opus")]
    let output = try Self.output(folder.path + "/late." + name, kinds, codec: "h264", size: nil) {}
    let units = try await Video.units(.openH264)
    let times = Times()
    try output.hear(0..<30, from: times[0])
    output.job.media.beginWithAudio()
    for number in 0..<10 { output.writeVideo(units[number].media(at: times[number + 10]), isRaw: false) }
    try await output.finish()
    let levels = try Self.levels(output.file.destination.location)
    #expect(levels.prefix(10).map(\.milliseconds) == [0] + (11..<20).map { $0 * 40 })
  }

  /// Of a camera that is muted, or whose keyframe does not come, before anything can be shown; when it comes, it is shown.
  @Test(arguments: [("mkv", "vp8"), ("mp4", "h264")]) func audioWaitsForNoFrame(_ name: String, _ codec: String)
    async throws
  {
    let folder = try TemporaryFolder()
    let size = Dimensions(width: 320, height: 160)
    let kinds: [Track.Kind: TrackTraits] = [.video: TrackTraits(codec: codec), .audio: TrackTraits(codec: "opus")]
    let output = try Self.output(folder.path + "/late." + name, kinds, codec: codec, size: size) {}
    let times = Times()
    try output.hear(0..<50, from: times[0])
    #expect(output.job.media.awaitsFrame)
    try output.job.encode(output.file, in: codec, size: size)
    output.job.media.beginWithAudio()
    #expect(output.job.wants(.video, isRaw: true) && !output.job.wants(.video, isRaw: false))
    try output.hear(50..<100, from: times[0])
    output.job.media.advance(to: times[50])
    output.show(try Quarters.frame(Dimensions(width: 318, height: 159)).buffer.media, (50..<60).map { times[$0] })
    try await output.finish()
    let levels = try Self.levels(output.file.destination.location)
    #expect(levels.first?.milliseconds == 0 && levels.last?.milliseconds ?? 0 >= 59 * 40)
    for level in levels {
      #expect((level.milliseconds < 2000) == (level.luma.upperBound < 20), "at \(level.milliseconds) ms")
    }
    let audio = try run(
      "ffprobe",
      ["-v", "error", "-select_streams", "a", "-show_entries", "packet=pts_time", "-of", "csv=p=0"]
        + [output.file.destination.location])
    #expect(audio.status == 0 && audio.output.split(separator: "\n").count >= 100)
  }

  /// A track that came after all was only late, but that its mute does not show is true to the end.
  @Test func whatWasSaidOfAMuteStays() {
    var list = OmissionList()
    for (sid, wasWanted) in [("late", true), ("muted", false)] {
      let omission = Omission(
        sid: sid, kind: .video, source: .camera, participant: "alice", reason: "why", wasWanted: wasWanted)
      let isNews = list.note(omission)
      #expect(isNews)
      list.came(sid)
    }
    #expect(list.all.map(\.sid) == ["muted"])
  }

  // MARK: Files

  private static let pipelines = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("pipelines").path

  /// A job of one file.
  private struct Output {
    let job: Job
    let file: JobDestination

    func writeVideo(_ media: MediaBuffer, isRaw: Bool) { job.media.write(media, .video, isRaw: isRaw) }
    func setMuted(_ isMuted: Bool, at time: MediaTime) -> Bool { job.media.setMuted(isMuted, at: time) }
    /// A decoded frame, at each of the times.
    func show(_ frame: MediaBuffer, _ times: [MediaTime]) {
      for time in times {
        writeVideo(
          frame.withUnsafeBytes { MediaBuffer(copying: $0, caps: frame.caps, pts: time, dts: nil) }, isRaw: true)
      }
    }
    /// Blocks of silence of 20 ms.
    func hear(_ steps: Range<Int>, from start: MediaTime) throws {
      let isRaw = job.wants(.audio, isRaw: true)
      let silence = try #require(AudioStandIn(isRaw: isRaw))
      for step in steps {
        let (time, length) = (start + .milliseconds(20) * step, Duration.milliseconds(20))
        let block = silence.block.withUnsafeBytes {
          MediaBuffer(copying: $0, caps: silence.caps, pts: time, duration: length)
        }
        job.media.write(block, .audio, isRaw: isRaw)
      }
    }
    var written: Int { file.lines.written(.video, job.media) }

    func finish(at time: MediaTime = .now) async throws {
      if let reason = await job.finish(at: time).compactMap({ $0 }).first { throw reason }
    }
  }

  private func file(
    _ file: String, _ test: StreamCase, onKeyframeNeeded: @escaping @Sendable () -> Void
  ) throws -> Output {
    try Self.output(file, codec: "\(test.codec)", size: nil, onKeyframeNeeded: onKeyframeNeeded)
  }

  private static func output(
    _ file: String, _ kinds: [Track.Kind: TrackTraits]? = nil, codec: String, size: Dimensions?,
    onKeyframeNeeded: @escaping @Sendable () -> Void
  ) throws -> Output {
    let factory = PipelineFactory(folder: pipelines)
    let destination = Destination(location: file)
    let planner = try OutputPlanner(destination, factory: factory)
    let plan = try planner.plan(kinds ?? [.video: TrackTraits(codec: codec)])
    let job = Job(beginsWithVideo: true, onKeyframeNeeded: onKeyframeNeeded, onChange: {})
    let added = try job.add(
      destination, planner: planner, plan: plan, video: Job.Video(codec: codec, size: size), factory: factory)
    return Output(job: job, file: added)
  }

  private struct Level: Equatable {
    var milliseconds: Int
    /// Of all pixels.
    var luma: ClosedRange<Int>
  }

  /// What ffmpeg shows of a file.
  private static func levels(_ file: String) throws -> [Level] {
    let probe = try run(
      "ffprobe",
      [
        "-v", "error", "-f", "lavfi", "-i", "movie=\(file),signalstats", "-show_entries",
        "frame=pts_time:frame_tags=lavfi.signalstats.YMIN,lavfi.signalstats.YMAX", "-of", "csv=p=0",
      ])
    try #require(probe.status == 0 && probe.errors.isEmpty, "\(file): \(probe.errors)")
    return probe.output.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: ",").compactMap { Double($0) }
      guard fields.count == 3 else { return nil }
      return Level(milliseconds: Int((fields[0] * 1000).rounded()), luma: Int(fields[1])...Int(fields[2]))
    }
  }
}
