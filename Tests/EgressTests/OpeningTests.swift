import BridgeTesting
import Dispatch
import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// What may not return for long, as opening a pipe that nobody reads, holds up nobody else.
@Suite struct OpeningTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/a.raw" }

  init() throws { folder = try TemporaryFolder() }

  @Test func whatComesLateIsTold() async throws {
    let (gate, told) = (DispatchSemaphore(value: 0), Collector<Int>())
    let opening = Opening<Int> {
      gate.wait()
      return 7
    }
    let outcome = opening.outcome(within: .milliseconds(20)) { outcome in
      if case .success(let value) = outcome { told.add(value) }
    }
    #expect(outcome == nil && !opening.isDone)
    gate.signal()
    try await eventually("what came late") { told.values == [7] }
    #expect(opening.isDone)
  }

  @Test func aFolderThatDoesNotAnswerIsAskedOnce() async throws {
    let (gate, file) = (DispatchSemaphore(value: 0), path)
    let first = #expect(throws: LiveKitError.self) {
      try FileClaim.asking(file, within: .milliseconds(20)) { gate.wait() }
    }
    #expect(first?.message.contains("does not answer") == true)
    let asked = Collector<Bool>()
    #expect(throws: LiveKitError.self) { try FileClaim.asking(file) { asked.add(true) } }
    #expect(asked.values.isEmpty)
    gate.signal()
    try await eventually("its answer") { (try? FileClaim.asking(file) { true }) == true }
  }

  /// Whoever has something else looked for or done there is told at once, and goes on without it.
  @Test func aDiskThatDoesNotAnswerHoldsUpNobody() async throws {
    let (gate, file) = (DispatchSemaphore(value: 0), folder.path + "/a.m3u8")
    try "of yesterday".write(toFile: file, atomically: false, encoding: .utf8)
    let (claim, place) = (try FileClaim(file), Destination(location: file))
    var options = RecordingOptions(file: folder.path + "/{publisher_identity}.mkv")
    var targets = try RecordingTargets(options, folder: nil)
    func refusal(_ body: () throws -> Void) -> Bool {
      do { try body() } catch { return "\(error)".contains("does not answer") }
      return false
    }
    let refusals = [
      refusal { try FileClaim.asking(file, within: .milliseconds(20)) { gate.wait() } },
      refusal { try claim.empty() }, refusal { try claim.checkWritten(by: "hls") },
      refusal { _ = try place.checkedTake(after: 1) }, refusal { try targets.check(&options) },
    ]
    #expect(refusals == [true, true, true, true, true])
    gate.signal()
    try await eventually("its answer") { (try? FileClaim.asking(file) { true }) == true }
    #expect(try place.checkedTake(after: 1).location == folder.path + "/a-2.m3u8")
    try claim.empty()
    #expect(claim.bytes == 0)
  }

  /// One that writes each buffer into a pipe.
  private func stage(_ failures: Collector<String>) throws -> OutputStage {
    try #require(mkfifo(path, 0o600) == 0)
    let text = """
      appsrc name=audio max-buffers=10 max-bytes=0 leaky-type=downstream caps="audio/x-opus"
      ! filesink location=${location} buffer-mode=unbuffered async=false
      """
    let template = try Template(kind: .output, name: "pipe", file: "pipe", text: text)
    let pipeline = try OutputPipeline(
      template.fill(["location": path]), inputs: ["audio": OutputPipeline.Input()], unused: [],
      factory: PipelineFactory(folder: nil), onKeyframeNeeded: { _ in }, onFailure: { Issue.record("\($0)") })
    return try OutputStage(Destination(location: path), template: "pipe", pipeline: pipeline, claim: nil) {
      failures.add($0.message)
    }
  }

  private func push(_ number: UInt8, into stage: OutputStage) throws {
    let caps = try #require(Caps("audio/x-opus"))
    let media = [number].withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
    stage.push(media, into: "audio", at: FeedTime(shown: .milliseconds(20 * Int64(number))), from: .zero)
  }

  @Test func whatComesBeforeAPipeIsReadWaits() async throws {
    let failures = Collector<String>()
    let begin = MediaTime.now
    let stage = try stage(failures)
    #expect(stage.isOpening && MediaTime.now - begin < .seconds(10))
    for number in UInt8(0)..<3 { try push(number, into: stage) }
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    try await eventually("that it is open") { !stage.isOpening }
    let got = Locked<[UInt8]>([])
    try await eventually("what had waited") {
      var byte = UInt8.max
      while read(reader, &byte, 1) == 1 { got.withLock { [byte] in $0.append(byte) } }
      return got.withLock { $0 } == [0, 1, 2]
    }
    #expect(failures.values.isEmpty)
    await stage.discard()
  }

  @Test func thatAPipeWasNeverReadIsTold() async throws {
    let stage = try stage(Collector())
    try push(0, into: stage)
    let error = await #expect(throws: LiveKitError.self) { try await stage.finish { nil } }
    #expect(error?.message.contains("could not be opened") == true)
    // Its thread is to come to an end.
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    try await eventually("that it is open") { !stage.isOpening }
    close(reader)
  }
}
