import BridgeTesting
import Foundation
import MediaCore
import MediaPipelines
import PipelineTemplates

@testable import MediaBridge

/// What the shipped template `playback` mixes, with a file in the place of the device.
final class PlayedAudio: Sendable {
  let folder: TemporaryFolder
  /// Whether the text writes a file, and has a variable for it.
  private let isFile: Bool
  var file: String { "\(folder.path)/played.raw" }

  /// - Parameter sink: what stands in the place of the device's sink.
  init(sink: String = "filesink location=\"${location}\" buffer-mode=unbuffered") throws {
    folder = try TemporaryFolder()
    isFile = sink.contains("${location}")
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let shipped = try String(
      contentsOf: root.appendingPathComponent("pipelines/output/playback.pipeline"), encoding: .utf8)
    guard let device = shipped.range(of: "! ${sink:-") else {
      throw TimedOut(description: "the shipped text has no variable sink")
    }
    let text = String(shipped[..<device.lowerBound]) + "! " + sink
    try FileManager.default.createDirectory(atPath: "\(folder.path)/output", withIntermediateDirectories: true)
    try text.write(toFile: "\(folder.path)/output/playback.pipeline", atomically: true, encoding: .utf8)
  }

  /// A delay that a busy machine keeps to.
  private static let delay = Duration.milliseconds(300)
  var values: [String: String] {
    ["delay": String(Self.delay.nanoseconds)].merging(isFile ? ["location": file] : [:]) { $1 }
  }
  var options: RoomOptions {
    RoomOptions(adaptiveStream: false, pipelineFolder: folder.path, playbackValues: values)
  }
  var factory: PipelineFactory { PipelineFactory(folder: folder.path, overrides: values) }

  /// Samples of the left channel, 48 000 a second, without the first `count`.
  func samples(from count: Int = 0) -> [Int16] {
    guard let handle = FileHandle(forReadingAtPath: file) else { return [] }
    defer { try? handle.close() }
    try? handle.seek(toOffset: UInt64(count * 4))
    let data = (try? handle.readToEnd()) ?? Data()
    return data.withUnsafeBytes { bytes in
      let frames = bytes.bindMemory(to: UInt32.self)
      return [Int16](unsafeUninitializedCapacity: frames.count) { left, used in
        for index in 0..<frames.count { left[index] = Int16(truncatingIfNeeded: frames[index]) }
        used = frames.count
      }
    }
  }

  /// Samples played so far.
  var count: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file)
    return (attributes?[.size] as? Int ?? 0) / 4
  }

  /// How loud a tone is in the newest quarter of a second.
  func newest(_ frequency: Int) -> Double {
    amplitude(of: frequency, in: samples(from: max(0, count - 12_000)).prefix(12_000))
  }

  /// How loud a tone is in each 10 ms from a sample on.
  func blocks(of frequency: Int, from count: Int = 0) -> [Double] {
    let samples = samples(from: count)
    return (0..<samples.count / 480).map { amplitude(of: frequency, in: samples[$0 * 480..<($0 + 1) * 480]) }
  }

  /// Waits until the newest audio is as wanted, for a quarter of a second.
  func becomes(_ what: String, _ holds: @Sendable () -> Bool) async throws {
    try await eventually(what, within: .seconds(10)) { count > 12_000 && holds() }
  }
}

/// Amplitude of one frequency (Goertzel), 1 at most; the stretch has whole periods of it and of what else is in it.
func amplitude(of frequency: Int, in samples: ArraySlice<Int16>) -> Double {
  let coefficient = 2 * cos(2 * .pi * Double(frequency) / 48_000)
  var (one, two) = (0.0, 0.0)
  samples.withUnsafeBufferPointer { samples in
    for sample in samples { (one, two) = (Double(sample) + coefficient * one - two, one) }
  }
  let power = max(0, one * one + two * two - coefficient * one * two)
  return 2 * power.squareRoot() / Double(max(samples.count, 1)) / 32_768
}

/// Whether this process has a file open.
func isOpen(_ file: String) -> Bool {
  let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return descriptors.contains {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == file
  }
}
