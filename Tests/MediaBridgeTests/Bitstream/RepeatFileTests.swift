import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Bitstream
@testable import MediaBridge

/// Files with repeat frames, written by the shipped templates and played by ffmpeg, which stops at the first error.
@Suite struct RepeatFileTests {
  static let cases: [(template: String, test: StreamCase)] = [
    ("mkv", .vp8.sized(638, 358)), ("mkv", .vp9.sized(638, 358)), ("mkv", .openH264.sized(638, 358)),
    ("mkv", .x264Main), ("webm", .vp8), ("webm", .vp9), ("mkv", .av1.sized(638, 358)), ("webm", .av1),
    ("webm", .vp8Layers), ("mp4", .x264Baseline.sized(638, 358)),
    ("mp4", .x264High), ("mp4", .openH264),
  ]

  @Test(arguments: cases.indices) func fileWithRepeatFramesPlays(_ index: Int) async throws {
    let (template, test) = Self.cases[index]
    let units = Array(try await Video.units(test).prefix(25))
    let rows = [3: 1, 9: 5, 16: 40]
    let mixed = try units.repeating(test.codec) { rows[$0] ?? 0 }
    let folder = try TemporaryFolder()
    try await write(units, to: "\(folder.path)/plain.\(template)", template)
    try await write(mixed, to: "\(folder.path)/repeated.\(template)", template)

    let plain = try play("\(folder.path)/plain.\(template)")
    let played = try play("\(folder.path)/repeated.\(template)")
    #expect(plain.count == units.count)
    #expect(played.map(\.milliseconds) == mixed.indices.map { $0 * 40 })
    let originals = zip(played, mixed).filter { !$1.isRepeat }.map(\.0.digest)
    #expect(originals == plain.map(\.digest))
    let wrong = mixed.indices.filter { place in
      mixed[place].isRepeat && mixed[place].isLastShown && place < played.count
        && played[place].digest != played[place - 1].digest
    }
    #expect(wrong.isEmpty, "frames \(wrong) of \(test)")
    let keyframes = try keyframes("\(folder.path)/repeated.\(template)")
    #expect(keyframes == mixed.indices.filter { !mixed[$0].isDelta }.map { $0 * 40 })
  }

  /// Black of AV1 is not written here: see `MutedFileTests`.
  @Test(arguments: cases.indices.filter { cases[$0].test.codec != .av1 }) func fileThatTurnsBlackPlays(_ index: Int)
    async throws
  {
    let (template, test) = Self.cases[index]
    let units = Array(try await Video.units(test).prefix(12))
    let mixed = try units.blackened(after: 6, repeats: 3, test.codec)
    let folder = try TemporaryFolder()
    let file = "\(folder.path)/black.\(template)"
    try await write(mixed, to: file, template)
    let played = try play(file)
    #expect(played.map(\.milliseconds) == mixed.indices.map { $0 * 40 })
    #expect(Set(played[6..<10].map(\.digest)).count == 1)
    #expect(played.prefix(6).map(\.digest) == played[10..<16].map(\.digest))
    #expect(try keyframes(file).contains(6 * 40))
  }

  private static let pipelines = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("pipelines").path

  private func write(_ units: [Unit], to file: String, _ template: String) async throws {
    let made = try PipelineFactory(folder: Self.pipelines).make(.output, template, values: ["location": file])
    let failures = Collector<PipelineFailure>()
    made.onFailure { failures.add($0) }
    try made.removeBranch(from: "audio")
    let source = try made.source("video")
    try made.start()
    for (index, unit) in units.enumerated() {
      let time = MediaTime(nanoseconds: Int64(index * Video.step))
      #expect(source.push(unit.media(at: time), updatingCaps: index == 0) == .queued)
    }
    try await made.pipeline.sendEndOfStream(timeLimit: .seconds(30))
    #expect(await made.pipeline.stop())
    #expect(failures.values.isEmpty)
  }

  /// Every frame's time and digest as ffmpeg decodes them.
  private func play(_ file: String) throws -> [(milliseconds: Int, digest: String)] {
    let played = try run(
      "ffmpeg",
      [
        "-v", "error", "-xerror", "-err_detect", "explode", "-i", file, "-map", "0:v", "-fps_mode", "passthrough",
        "-f", "framemd5", "-",
      ])
    #expect(played.status == 0, "\(file): \(played.errors)")
    #expect(played.errors.isEmpty, "\(file): \(played.errors)")
    let lines = played.output.split(separator: "\n")
    let base = try #require(lines.first { $0.hasPrefix("#tb 0:") }?.split(separator: " ").last)
    let fraction = base.split(separator: "/").compactMap { Int($0) }
    try #require(fraction.count == 2)
    return try lines.filter { !$0.hasPrefix("#") }.map { line in
      let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      let time = try #require(Int(fields[2]))
      return (time * fraction[0] * 1000 / fraction[1], fields[5])
    }
  }

  /// When the container says that a player may start.
  private func keyframes(_ file: String) throws -> [Int] {
    let probe = try run(
      "ffprobe",
      ["-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0", file])
    #expect(probe.status == 0, "\(probe.errors)")
    return probe.output.split(separator: "\n").filter { $0.contains("K") }.compactMap {
      $0.split(separator: ",").first.flatMap { Double($0) }.map { Int(($0 * 1000).rounded()) }
    }
  }
}
