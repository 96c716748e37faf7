import BridgeTesting
import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// Destinations of one job, and what makes their media.
@Suite struct SharedEncodeTests {
  private let folder: TemporaryFolder
  private let start = MediaTime.now - .seconds(3)

  /// A file with a keyframe at least every 400 ms.
  private static let often = """
    matroskamux name=mux ! filesink location=${location}
    appsrc name=video max-buffers=1000 max-bytes=0 leaky-type=downstream caps="video/x-h264,stream-format=avc,alignment=au"
    ! identity eos-after=-1 name=k${keyframe-interval:-0.4} ! mux.
    """

  private static let failing = """
    matroskamux name=mux ! filesink location=${location}
    appsrc name=video max-buffers=1000 max-bytes=0 leaky-type=downstream caps="video/x-h264,stream-format=avc,alignment=au"
    ! identity error-after=5 ! mux.
    """

  /// A live server that goes away after 40 frames.
  private static let flaky = """
    appsrc name=video max-buffers=1000 max-bytes=0 leaky-type=downstream caps="video/x-h264,stream-format=avc,alignment=au"
    ! identity error-after=40 ! fakesink
    """

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/output", withIntermediateDirectories: false)
    for (name, text) in [("often", Self.often), ("failing", Self.failing), ("flaky", Self.flaky)] {
      try text.write(toFile: folder.path + "/output/\(name).pipeline", atomically: true, encoding: .utf8)
    }
  }

  private func job() -> Job { Job(beginsWithVideo: true, onKeyframeNeeded: {}, onChange: {}) }

  @discardableResult
  private func add(
    _ name: String, to job: Job, codec: String = "vp8", values: [String: String] = [:]
  ) throws -> JobDestination {
    let factory = PipelineFactory(folder: folder.path, overrides: values)
    let destination = Destination(argument: name.replacing("=", with: "=\(folder.path)/"))
    let planner = try OutputPlanner(destination, factory: factory)
    return try job.add(
      destination, planner: planner, plan: try planner.plan([.video: TrackTraits(codec: codec)]),
      video: Job.Video(codec: codec, size: Dimensions(width: 320, height: 180)), factory: factory)
  }

  /// Decoded frames, 40 ms apart.
  private func write(_ numbers: Range<Int>, into job: Job) {
    for number in numbers {
      guard let black = MediaBuffer.blackFrame(width: 320, height: 180) else { continue }
      let frame = black.withUnsafeBytes {
        MediaBuffer(copying: $0, caps: black.caps, pts: start + .milliseconds(40 * number))
      }
      job.media.write(frame, .video, isRaw: true)
    }
  }

  /// Writes the first frames, and waits for what an encoder makes of them.
  private func begin(_ job: Job) async throws {
    write(0..<5, into: job)
    try await eventually("the first keyframe") { job.encoders.allSatisfy(\.hasBegun) }
  }

  @Test func whoWantsTheSameSharesOneEncoder() async throws {
    let job = job()
    let files = ["mp4=a", "mp4=b", "often=c"]
    for file in files { try add(file, to: job) }
    #expect(job.encoders.count == 1)
    try add("mp4=d", to: job, values: ["bitrate": "500"])
    #expect(job.encoders.count == 2, "another bitrate is another encode")
    write(0..<50, into: job)
    #expect(await job.finish(at: start + .seconds(2)) == [nil, nil, nil, nil])
    for file in ["a", "b", "c", "d"] {
      #expect(try frames(file).count == 50, "\(file)")
    }
  }

  /// Of a participant whose size is known, too.
  @Test func theBitrateGoesBySize() async throws {
    let job = job()
    try add("mp4=a", to: job)
    let forms = job.encoders.map(\.form)
    guard case .encoded(let template) = forms[0] else {
      Issue.record("nothing is encoded: \(forms)")
      return
    }
    #expect(template.description.contains("bitrate=750 "))
    write(0..<25, into: job)
    #expect(await job.finish(at: start + .seconds(1)) == [nil])
  }

  @Test func theShortestKeyframeIntervalIsKept() async throws {
    let job = job()
    try add("mp4=a", to: job, values: ["gop": "1000"])
    try add("often=b", to: job, values: ["gop": "1000"])
    #expect(job.encoders.count == 1)
    try await begin(job)
    write(5..<50, into: job)
    #expect(await job.finish(at: start + .seconds(2)) == [nil, nil])
    for file in ["a", "b"] {
      let keyframes = try frames(file).filter(\.isKeyframe).map(\.time)
      #expect(zip(keyframes, keyframes.dropFirst()).allSatisfy { $1 - $0 <= 0.401 }, "\(file): \(keyframes)")
      #expect(keyframes.count >= 5)
    }
  }

  /// Of 12.5 frames a second: `gop` counts them, by default for 25.
  @Test func keyframesGoByTime() async throws {
    let job = job()
    try add("mp4=a", to: job)
    try job.show(0..<5, from: start, every: .milliseconds(80))
    try await eventually("the first keyframe") { job.encoders.allSatisfy(\.hasBegun) }
    try job.show(5..<48, from: start, every: .milliseconds(80))
    #expect(await job.finish(at: start + .seconds(3.84)) == [nil])
    let keyframes = try frames("a").filter(\.isKeyframe).map(\.time)
    #expect(keyframes.count == 2 && abs(keyframes[1] - 2) < 0.001, "\(keyframes)")
  }

  /// A new part is a new pipeline that takes over at a keyframe: each file plays by itself, and nothing is missing.
  @Test func anotherPartTakesOverAtAKeyframe() async throws {
    let job = job()
    let first = try add("often=a.mkv", to: job, values: ["gop": "1000"])
    try await begin(job)
    write(5..<25, into: job)
    let next = first.destination.nextPart(after: 1)
    #expect(next.location == folder.path + "/a-2.mkv")
    try first.takeOver(try first.planner.plan([.video: TrackTraits(codec: "vp8")]), at: next)
    write(25..<50, into: job)
    #expect(await job.finish(at: start + .seconds(2)) == [nil])
    #expect(first.laterFiles == [next.location])
    let parts = [try frames("a.mkv"), try frames("a-2.mkv")]
    #expect(parts.map(\.count).reduce(0, +) == 50)
    #expect(parts.allSatisfy { $0.first?.isKeyframe == true && $0.first?.time == 0 })
    #expect(abs(first.length(job.media).seconds - 2) < 0.1)
  }

  /// As one that began to wait while templates were read anew.
  @Test func changedTemplatesLeaveAPartThatWaitsAlone() async throws {
    let job = job()
    let first = try add("often=a.mkv", to: job, values: ["gop": "1000"])
    try await begin(job)
    try first.takeOver(first.plan, at: first.nextPart)
    let setup = JobDestination.Setup(planner: first.planner, plan: first.plan)
    let changed = [TemplateName(.output, "often")]
    let isRenewed = try job.renew(first, setup, changed, Job.Video(codec: "vp8", size: nil))
    #expect(!isRenewed && first.laterFiles.count == 1)
    write(5..<25, into: job)
    #expect(await job.finish(at: start + .seconds(1)) == [nil])
    #expect(try frames("a.mkv").count + frames("a-2.mkv").count == 25)
  }

  /// An encoder makes keyframes that nobody has asked for while templates of another destination are read.
  @Test func destinationsOfOneEncoderGoOnAtOneFrame() async throws {
    let job = job()
    let outputs = [try add("often=a.mkv", to: job), try add("often=b.mkv", to: job)]
    #expect(job.encoders.count == 1)
    try await begin(job)
    for (index, output) in outputs.enumerated() {
      let setup = JobDestination.Setup(planner: output.planner, plan: output.plan)
      let changed = [TemplateName(.output, "often")]
      let isRenewed = try job.renew(output, setup, changed, Job.Video(codec: "vp8", size: nil))
      #expect(isRenewed)
      let end = 25 + 20 * index
      write((end - 20)..<end, into: job)
      try await eventually("a keyframe of every 400 ms") { output.writer.reached >= .milliseconds(40 * (end - 5)) }
    }
    job.begin(renewalsOf: outputs)
    write(45..<60, into: job)
    #expect(await job.finish(at: start + .milliseconds(2400)) == [nil, nil])
    let counts = try ["a.mkv", "a-2.mkv", "b.mkv", "b-2.mkv"].map { try frames($0).count }
    #expect(counts[0] >= 45 && counts[0] + counts[1] == 60 && counts.prefix(2) == counts.suffix(2), "\(counts)")
  }

  /// One that cannot be written stops only itself.
  @Test func oneFailsAlone() async throws {
    let job = job()
    try add("mp4=a", to: job)
    let broken = try add("failing=b", to: job)
    write(0..<25, into: job)
    try await eventually("its failure") { broken.failure != nil }
    let reasons = await job.finish(at: start + .seconds(1))
    #expect(reasons[0] == nil && reasons[1]?.message.contains("\(folder.path)/b: ") == true)
    #expect(reasons[1]?.underlying is PipelineError)
    #expect(try frames("a").count == 25)
  }

  /// What only it needed ends with it, and what came for it stays known.
  @Test func oneEndsAlone() async throws {
    let job = job()
    try add("mp4=a", to: job)
    let other = try add("mp4=b", to: job, values: ["bitrate": "500"])
    #expect(job.encoders.count == 2)
    try await begin(job)
    write(5..<25, into: job)
    await job.end(other).value
    #expect(job.encoders.count == 1 && other.state(job.media) == .complete && other.failure == nil)
    write(25..<50, into: job)
    #expect(await job.finish(at: start + .seconds(2)) == [nil])
    #expect(try frames("a").count == 50)
    let kept = try frames("b").count
    #expect(kept > 0 && kept <= 25 && other.lines.written(.video, job.media) == 25)
    #expect(other.length(job.media) <= .seconds(1))
  }

  /// The server gets another pipeline, which begins at a keyframe that the encoder is asked for.
  @Test func aLostServerStopsNeitherEncoderNorFile() async throws {
    let job = job()
    try add("mp4=a", to: job, values: ["gop": "1000"])
    let stream = try add("flaky://server", to: job, values: ["gop": "1000"])
    #expect(job.encoders.count == 1)
    try await begin(job)
    write(5..<25, into: job)
    var count = 25
    // Before it has taken something for a while it is not lost, but refuses.
    while stream.stream?.wasTaken == false, count < 38 {
      try await Task.sleep(for: .milliseconds(200))
      write(count..<count + 1, into: job)
      count += 1
    }
    write(count..<50, into: job)
    try await eventually("its loss") { stream.stream?.losses == 1 }
    #expect(stream.stream?.isReconnecting == true && stream.failure == nil)
    count = 50
    while stream.stream?.isReconnecting == true, count < 500 {
      write(count..<count + 1, into: job)
      count += 1
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(stream.stream?.isReconnecting == false && job.encoders.count == 1)
    #expect(await job.finish(at: start + .milliseconds(40 * count)) == [nil, nil])
    let frames = try frames("a")
    #expect(frames.count == count && frames.filter(\.isKeyframe).count == 2)
  }

  // MARK: Nobody sends

  /// A keyframe as it is sent, behind which nothing comes for ten seconds.
  private func sendKeyframe(to job: Job, at start: MediaTime) throws {
    let picture = try #require(MediaBuffer.blackFrame(width: 320, height: 180))
    let encoder = "appsrc name=in ! vp8enc deadline=1 ! appsink name=out sync=false"
    let made = try Pipeline(description: encoder, name: "keyframe").process(
      picture, from: "in", to: "out", at: MediaTime(nanoseconds: 0))
    let frame = made.withUnsafeBytes { MediaBuffer(copying: $0, caps: made.caps, pts: start) }
    job.media.write(frame, .video, isRaw: false)
    job.media.advance(to: start + .seconds(10))
  }

  @Test func whoComesThenBeginsWithBlackAndTheOthersKeepTheirFrame() async throws {
    let (job, start) = (job(), MediaTime.now)
    let first = try add("mkv=a.mkv", to: job)
    try sendKeyframe(to: job, at: start)
    let late = try add("mkv=b.mkv", to: job)
    for seconds in [0, 2, 4] {
      #expect(late.writer.awaitsBeginning, "its sender may be about to send one")
      job.beginWithBlack(at: start + .seconds(seconds))
    }
    #expect(!late.writer.awaitsBeginning && late.lines[.video] !== first.lines[.video])
    job.retireLines()
    try sendKeyframe(to: job, at: start)
    #expect([first, late].map { $0.lines.written(.video, job.media) } == [2, 1], "black is none that came")
    #expect(await job.finish(at: start + .seconds(10)) == [nil, nil])
    let times = try ["a.mkv", "b.mkv"].map { try frames($0).filter(\.isKeyframe).map(\.time) }
    #expect(times.map(\.count) == [2, 2] && times.map(\.first) == [0, 0] && times[1][1] < 0.1, "\(times)")
  }

  /// Nobody else takes its line.
  @Test func whoComesAloneBeginsWithBlackOnItsLine() async throws {
    let (job, start) = (job(), MediaTime.now)
    let first = try add("mkv=a.mkv", to: job)
    try sendKeyframe(to: job, at: start)
    let only = try add("mkv=b.mkv", to: job)
    let line = only.lines[.video]
    await job.end(first).value
    for seconds in [0, 4] { job.beginWithBlack(at: start + .seconds(seconds)) }
    #expect(!only.writer.awaitsBeginning && only.lines[.video] === line)
    #expect(await job.finish(at: start + .seconds(10)) == [nil])
    #expect(try frames("b.mkv").filter(\.isKeyframe).count == 1)
  }

  /// The part before it goes on with the frame that is held.
  @Test func aPartThatIsDueThenWaits() async throws {
    let (job, start) = (job(), MediaTime.now)
    let only = try add("mkv=a.mkv", to: job)
    try sendKeyframe(to: job, at: start)
    try only.takeOver(only.plan, at: only.nextPart)
    for seconds in [0, 4] { job.beginWithBlack(at: start + .seconds(seconds)) }
    #expect(only.writer.waiting != nil)
    #expect(await job.finish(at: start + .seconds(10)) == [nil])
    #expect(try frames("a.mkv").filter(\.isKeyframe).count == 1)
  }

  private struct Frame {
    var time: Double
    var isKeyframe: Bool
  }

  /// What ffprobe reads of a file.
  private func frames(_ file: String) throws -> [Frame] {
    let probe = try run(
      "ffprobe",
      ["-v", "error", "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0", "\(folder.path)/\(file)"])
    try #require(probe.status == 0 && probe.errors.isEmpty, "\(file): \(probe.errors)")
    return probe.output.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: ",")
      guard fields.count >= 2, let time = Double(fields[0]) else { return nil }
      return Frame(time: time, isKeyframe: fields[1].contains("K"))
    }
  }
}
