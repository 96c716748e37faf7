import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import PipelineTemplates
import Testing

@Suite(.serialized) struct OutputTests {
  /// Access units of a test stream as a receive template gives them.
  private func units(_ codec: String, _ packets: [TestPacket]) async throws -> [MediaBuffer] {
    let pipeline = try Shipped.receiver(codec, "encoded")
    let source = try pipeline.appSource(named: "rtp")
    let units = Collector<MediaBuffer>()
    try pipeline.appSink(named: "encoded", onBuffer: { units.add($0) })
    try pipeline.start()
    for packet in packets { source.push(packet.buffer, dts: .now) }
    try await pipeline.sendEndOfStream()
    #expect(await pipeline.stop())
    return units.values
  }

  /// What the output's text takes, two seconds of it.
  private func audio(_ template: Template) async throws -> [MediaBuffer] {
    if template.text.contains("audio/x-opus") { return try await units("opus", try await TestStream.audio(count: 100)) }
    return try await encoded("aac", "pcm", tones(100) { _ in 8000 })
  }

  private func tones(_ count: Int, _ amplitude: (Int) -> Double) throws -> [MediaBuffer] {
    let caps = try #require(Caps("audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2"))
    return (0..<count).map { tone(caps, amplitude: amplitude($0)) }
  }

  /// Raw media through a shipped encode template, as it comes out.
  private func encoded(
    _ text: String, _ input: String, _ media: [MediaBuffer], at time: (Int) -> Duration = { .milliseconds(20 * $0) }
  ) async throws -> [MediaBuffer] {
    let pipeline = try Shipped.pipeline(.encode, text)
    let errors = errors(of: pipeline)
    let source = try pipeline.appSource(named: input)
    let units = Collector<MediaBuffer>()
    try pipeline.appSink(named: "encoded", onBuffer: { units.add($0) })
    try pipeline.start()
    for (index, media) in media.enumerated() {
      let start = MediaTime(nanoseconds: 0) + time(index)
      #expect(source.push(media, pts: start, dts: start) == .queued)
    }
    try await pipeline.sendEndOfStream(timeLimit: .seconds(30))
    #expect(await pipeline.stop())
    #expect(errors.values.isEmpty)
    return units.values
  }

  /// 20 ms of 500 Hz.
  private func tone(_ caps: Caps, amplitude: Double) -> MediaBuffer {
    let samples = (0..<960).flatMap { frame -> [Int16] in
      let value = Int16(amplitude * sin(Double(frame) * 2 * .pi * 500 / 48_000))
      return [value, value]
    }
    return samples.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil, duration: .milliseconds(20)) }
  }

  private func frames(_ codec: String) async throws -> [MediaBuffer] {
    if let encoder = codec.split(separator: "/").last, codec.hasPrefix("encode/") {
      let frames = try (0..<50).map(NumberedFrame.media)
      return try await encoded(String(encoder), "frames", frames) { .milliseconds(40 * $0) }
    }
    return try await units(codec, try await TestStream.video(codec, count: 50).flatMap { $0 })
  }

  /// Two seconds of video and audio into a file, whose time begins at zero.
  private func record(
    _ name: String, _ location: String, video: [MediaBuffer], audio: [MediaBuffer], values: [String: String] = [:],
    keepingCaps: Bool = false
  ) async throws {
    let pipeline = try Shipped.pipeline(.output, name, values.merging(["location": location]) { $1 })
    let errors = errors(of: pipeline)
    if video.isEmpty { try pipeline.removeBranch(from: "video") }
    if audio.isEmpty { try pipeline.removeBranch(from: "audio") }
    let frame = video.isEmpty ? nil : try pipeline.appSource(named: "video")
    let tone = audio.isEmpty ? nil : try pipeline.appSource(named: "audio")
    try pipeline.start()
    let start = MediaTime(nanoseconds: 0)
    for (index, media) in video.enumerated() {
      let time = start + .milliseconds(40 * index)
      #expect(frame?.push(media, pts: time, dts: time, updatingCaps: !keepingCaps || index == 0) == .queued)
    }
    for (index, media) in audio.enumerated() {
      // AAC says when, after its run-in; packets of Opus follow on from each other.
      let time = media.caps.mediaType == "audio/mpeg" ? media.pts ?? start : start + .milliseconds(20 * index)
      guard time >= start else { continue }
      #expect(tone?.push(media, pts: time, dts: time) == .queued)
    }
    try await pipeline.sendEndOfStream(timeLimit: .seconds(30))
    #expect(await pipeline.stop())
    #expect(errors.values.isEmpty)
  }

  /// Codecs and duration as ffprobe sees them, after ffmpeg has decoded all of it without complaint.
  private func check(_ location: String, codecs: Set<String>, seconds: Double = 2) throws {
    let fields = "format=duration:stream=codec_name"
    let probe = try run("ffprobe", ["-v", "error", "-show_entries", fields, "-of", "flat", location])
    #expect(probe.status == 0, "\(probe.errors)")
    let lines = probe.output.split(separator: "\n").map { $0.split(separator: "=").last.map(String.init) ?? "" }
    let values = lines.map { $0.replacingOccurrences(of: "\"", with: "") }
    #expect(Set(values.filter { Double($0) == nil }) == codecs)
    let duration = try #require(values.compactMap(Double.init).first)
    #expect(abs(duration - seconds) < 0.15, "\(location): \(duration) s")
    let decoded = try run("ffmpeg", ["-v", "error", "-i", location, "-f", "null", "-"])
    #expect(decoded.status == 0)
    #expect(decoded.errors.isEmpty, "\(decoded.errors)")
  }

  private static let cases: [(name: String, codec: String, codecs: Set<String>)] = [
    ("mp4", "h264", ["h264", "aac"]), ("mp4-opus", "h264", ["h264", "opus"]),
    ("mp4", "encode/h264", ["h264", "aac"]), ("mkv", "vp8", ["vp8", "opus"]), ("mkv", "vp9", ["vp9", "opus"]),
    ("mkv", "h264", ["h264", "opus"]), ("webm", "vp8", ["vp8", "opus"]), ("webm", "vp9", ["vp9", "opus"]),
    ("webm", "encode/vp8", ["vp8", "opus"]),
  ]

  @Test(arguments: cases.indices) func fileWithFrameAndAudioPlays(_ index: Int) async throws {
    let (name, codec, codecs) = Self.cases[index]
    let folder = try TemporaryFolder()
    let location = "\(folder.path)/a file.\(name.prefix(4))"
    let audio = try await audio(try Shipped.store.find(.output, name))
    try await record(name, location, video: try await frames(codec), audio: audio)
    try check(location, codecs: codecs)
  }

  /// MP4 has no place for the time before a track begins, and `audiorate` lets pass what it is told to. The `delay` of
  /// the encode template is what players would hear of the encoder's run-in.
  @Test func audioThatBeginsLateAndJumpsIsHeardAtItsPlace() async throws {
    let folder = try TemporaryFolder()
    let (file, samples) = ("\(folder.path)/late.mp4", "\(folder.path)/samples")
    let audio = try await encoded("aac", "pcm", tones(75) { $0 < 50 ? 0 : 8000 }) {
      .milliseconds(50 + 20 * $0 + ($0 < 25 ? 0 : 25))
    }
    try await record("mp4", file, video: try await frames("h264"), audio: audio)
    let decoding = ["-i", file, "-af", "aresample=async=1:first_pts=0", "-ac", "1", "-f", "s16le", samples]
    #expect(try run("ffmpeg", ["-v", "error"] + decoding).status == 0)
    let heard = try Data(contentsOf: URL(fileURLWithPath: samples)).withUnsafeBytes { bytes in
      bytes.bindMemory(to: Int16.self).firstIndex { $0.magnitude > 2000 }
    }
    #expect(abs(Double(try #require(heard)) / 48_000 - 1.075) < 0.005)
  }

  @Test(arguments: ["mp4", "mkv"]) func fileOfOneTrackPlays(_ name: String) async throws {
    let folder = try TemporaryFolder()
    let audio = try await audio(try Shipped.store.find(.output, name))
    try await record(name, "\(folder.path)/audio", video: [], audio: audio)
    try check("\(folder.path)/audio", codecs: [name == "mp4" ? "aac" : "opus"])
    try await record(name, "\(folder.path)/video", video: try await frames("h264"), audio: [])
    try check("\(folder.path)/video", codecs: ["h264"])
  }

  @Test func sourcesSayWhatTheyAccept() throws {
    let pipeline = try Shipped.pipeline(.output, "mkv", ["location": "/dev/null"])
    let accepted = try #require(try pipeline.appSource(named: "video").acceptedCaps)
    #expect(accepted.mediaTypes == ["video/x-h264", "video/x-vp8", "video/x-vp9", "video/x-av1"])
    #expect(accepted.fields == ["stream-format": "avc", "alignment": "au"])
  }

  @Test func anUnwritableFileIsAnErrorOfTheStart() throws {
    let pipeline = try Shipped.pipeline(.output, "mkv", ["location": "/nonexistent/x.mkv"])
    let error = #expect(throws: PipelineError.self) { try pipeline.start() }
    #expect(error?.kind == .notFound || error?.kind == .cannotWrite)
    #expect(error?.element?.hasPrefix("filesink") == true)
  }

  @Test func aFullDiskIsToldApart() async throws {
    let pipeline = try Shipped.pipeline(.output, "mkv", ["location": "/dev/full"])
    let errors = errors(of: pipeline)
    try pipeline.removeBranch(from: "audio")
    let source = try pipeline.appSource(named: "video")
    try pipeline.start()
    for media in try await frames("vp8") { source.push(media) }
    try await eventually("an error of the sink") { errors.count > 0 }
    #expect(errors.values.first?.kind == .diskFull)
    await #expect(throws: PipelineError.self) { try await pipeline.sendEndOfStream() }
    #expect(await pipeline.stop())
  }
}
