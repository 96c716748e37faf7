import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import PipelineTemplates
import Testing

@Suite(.serialized) struct PipelineTests {
  @Test func aMissingElementIsNamedWithItsLine() throws {
    let text = "fakesrc\n! nosuchelement\n! othermissing ! fakesink"
    let error = #expect(throws: PipelineError.self) {
      try Pipeline(description: text, name: "test") { offset in
        SourceLocation(file: "x.pipeline", line: 1 + text.utf8.prefix(offset).count { $0 == UInt8(ascii: "\n") })
      }
    }
    #expect(error?.kind == .missingElements(["nosuchelement", "othermissing"]))
    #expect(error?.location == SourceLocation(file: "x.pipeline", line: 2))
  }

  @Test(arguments: ["fakesrc ! ! fakesink", "", "fakesrc ! \"", "! fakesink", "fakesrc name= ! x."])
  func textThatIsNoPipelineIsAnError(_ text: String) {
    #expect(throws: PipelineError.self) { try Pipeline(description: text, name: "test") }
  }

  @Test func anUnknownPropertyAndALinkThatCannotBeAreErrors() {
    let property = #expect(throws: PipelineError.self) {
      try Pipeline(description: "fakesrc colour=red ! fakesink", name: "test") { SourceLocation(file: "f", line: $0) }
    }
    #expect(property?.kind == .property)
    #expect(property?.location?.line == 8)
    let link = #expect(throws: PipelineError.self) {
      try Pipeline(description: "audiotestsrc ! vp8dec ! fakesink", name: "test")
    }
    #expect(link?.kind == .link)
  }

  @Test func elementsAndTheirProperties() throws {
    let pipeline = try Pipeline(description: "audiotestsrc name=tone freq=880 ! fakesink name=end", name: "test")
    let tone = try pipeline.element(named: "tone")
    #expect(tone.factory == "audiotestsrc")
    #expect(tone.double("freq") == 880)
    #expect(tone.string("wave") == "sine")
    try tone.set("volume", to: 0.25)
    try tone.set("samplesperbuffer", to: 480)
    try tone.set("is-live", to: true)
    #expect(tone.double("volume") == 0.25 && tone.int("samplesperbuffer") == 480 && tone.bool("is-live") == true)
    #expect(tone.string("none") == nil)
    #expect(throws: PipelineError.self) { try tone.set("none", to: 1) }
    #expect(throws: PipelineError.self) { try pipeline.element(named: "nobody") }
    #expect(throws: PipelineError.self) { try pipeline.appSource(named: "end") }
    #expect(throws: PipelineError.self) { try pipeline.appSink(named: "end", onBuffer: { _ in }) }
  }

  /// What somebody is called, though it would be another text as the text form of one, or none.
  @Test(arguments: ["NULL", "\"a b\"", "\"NULL\"", "a\nb", "a\\"]) func aTextIsSetAsItIs(_ text: String) throws {
    let pipeline = try Pipeline(description: "filesrc name=file ! fakesink", name: "test")
    let file = try pipeline.element(named: "file")
    #expect(file.string("location") == nil)
    try file.set("location", to: text)
    #expect(file.string("location") == text)
  }

  /// The parser has the same text forms.
  @Test(arguments: ["NULL", "NULLS", "\"NULL\""]) func aTextOfATemplateIsWhatItSays(_ text: String) throws {
    let template = try Template(
      kind: .output, name: "t", file: "t.pipeline", text: "filesrc name=file location=${x} ! fakesink")
    let pipeline = try Pipeline(description: try template.fill(["x": text]).description, name: "test")
    #expect(try pipeline.element(named: "file").string("location") == text)
  }

  @Test func anElementThatFailsIsNamed() async throws {
    let pipeline = try Pipeline(
      description: "audiotestsrc ! identity name=breaks error-after=3 ! fakesink", name: "test")
    let errors = errors(of: pipeline)
    do {
      try pipeline.start()
      try await eventually("an error") { errors.count > 0 }
      #expect(errors.values.first?.element == "breaks")
    } catch let error as PipelineError {
      // So quick that the start has seen it; of what it causes the handler is told.
      #expect(error.element == "breaks")
    }
    #expect(await pipeline.stop())
  }

  /// The parser itself says that there is no element named "(null)".
  @Test func aLinkWithNothingIsNamed() {
    let error = #expect(throws: PipelineError.self) {
      _ = try Pipeline(
        description: "flvmux name=mux ! fakesink  appsrc name=\"video\" ! mox.video", name: "test",
        locate: { SourceLocation(file: "t", line: $0) })
    }
    #expect(error?.message.contains("\"mox\"") == true && error?.location?.line == 50)
  }

  @Test func theEndOfAStreamThatDoesNotEndIsGivenUp() async throws {
    let pipeline = try Pipeline(description: "audiotestsrc is-live=true ! fakesink", name: "test")
    try pipeline.start()
    let error = await #expect(throws: PipelineError.self) {
      try await pipeline.endOfStream(timeLimit: .milliseconds(50))
    }
    #expect(error?.kind == .timeLimit)
    #expect(await pipeline.stop())
  }

  /// Ten buffers of 60 ms each, in a limit of 200 ms.
  @Test func theEndOfAStreamThatMovesIsWaitedFor() async throws {
    let description = "appsrc name=in max-buffers=50 ! identity sleep-time=60000 ! fakesink sync=false"
    for isWatched in [true, false] {
      let pipeline = try Pipeline(description: description, name: "test")
      let source = try pipeline.appSource(named: "in")
      try pipeline.start()
      for index in 0..<10 { source.push(PacketBuffer(copying: [UInt8(index)]), dts: .now) }
      do {
        try await pipeline.sendEndOfStream(timeLimit: .milliseconds(200)) { isWatched ? source.queuedBuffers : 0 }
        #expect(isWatched)
      } catch {
        #expect(!isWatched && error.kind == .timeLimit)
      }
      #expect(await pipeline.stop())
    }
  }

  @Test func whoWaitsForTheEndIsToldOfTheStop() async throws {
    let pipeline = try Pipeline(description: "audiotestsrc is-live=true ! fakesink", name: "test")
    try pipeline.start()
    let end = Task { try await pipeline.endOfStream(timeLimit: .seconds(60)) }
    #expect(await pipeline.stop())
    let outcome = await end.result
    #expect(throws: PipelineError.self) { try outcome.get() }
  }

  /// Sinks, probes and the bus all call a closure that must not run once `stop` has returned.
  @Test func nothingCallsBackAfterStop() async throws {
    let stopped = Locked(false)
    let lateCalls = Locked(0)
    let note: @Sendable () -> Void = {
      let isLate = stopped.withLock { $0 }
      if isLate { lateCalls.withLock { $0 += 1 } }
    }
    for _ in 0..<20 {
      let pipeline = try Pipeline(
        description: """
          appsrc name=rtp ! identity name=jitter ! tee name=t
          t. ! queue ! appsink name=a sync=false  t. ! queue ! fakesink
          audiotestsrc samplesperbuffer=48 ! level interval=1000 ! fakesink
          """, name: "test")
      stopped.withLock { $0 = false }
      let calls = Collector<Int>()
      pipeline.onMessage { _ in note() }
      let source = try pipeline.appSource(named: "rtp")
      try pipeline.onKeyframeRequest(atSourceNamed: "rtp", note)
      try pipeline.retimestamp(elementNamed: "jitter") { _ in
        note()
        return nil
      }
      let sink = try pipeline.appSink(
        named: "a",
        onBuffer: { _ in
          note()
          calls.add(1)
        })
      try pipeline.start()
      let pusher = Task {
        while !Task.isCancelled { source.push(PacketBuffer(copying: 0..<20), dts: .now) }
      }
      try await eventually("calls") { calls.count > 20 }
      sink.requestKeyframe()
      #expect(await pipeline.stop())
      stopped.withLock { $0 = true }
      sink.requestKeyframe()
      pusher.cancel()
      await pusher.value
    }
    #expect(lateCalls.withLock { $0 } == 0)
  }

  @Test func closuresDieWithTheRun() async throws {
    final class Witness: Sendable {}
    let pipeline = try Pipeline(description: "appsrc name=in ! appsink name=out", name: "test")
    weak let weakWitness: Witness? = try {
      let witness = Witness()
      try pipeline.appSink(named: "out", onBuffer: { [witness] _ in withExtendedLifetime(witness) {} })
      try pipeline.onKeyframeRequest(atSourceNamed: "in") { [witness] in withExtendedLifetime(witness) {} }
      try pipeline.retimestamp(elementNamed: "in") { [witness] _ in withExtendedLifetime(witness) { nil } }
      pipeline.onMessage { [witness] _ in withExtendedLifetime(witness) {} }
      return witness
    }()
    #expect(weakWitness != nil)
    try pipeline.start()
    #expect(await pipeline.stop())
    #expect(weakWitness == nil)
  }

  @Test func aPipelineMayBeStoppedFromItsOwnCallback() async throws {
    let pipeline = try Pipeline(description: "audiotestsrc ! appsink name=out sync=false", name: "test")
    let outcomes = Collector<Bool>()
    let begun = Locked(false)
    try pipeline.appSink(
      named: "out",
      onBuffer: { [weak pipeline] _ in
        let isFirst = begun.withLock { begun in
          defer { begun = true }
          return !begun
        }
        if isFirst { pipeline?.stop { outcomes.add($0) } }
      })
    try pipeline.start()
    try await eventually("the stop") { outcomes.values == [true] }
  }

  @Test func aHundredPipelinesLeaveNothingBehind() async throws {
    try await startAndStop(count: 10)
    try await eventually("quiet before") { Self.pipelineThreads == 0 }
    let descriptors = Self.descriptors
    try await startAndStop(count: 100)
    try await eventually("no thread of a pipeline") { Self.pipelineThreads == 0 }
    // Other suites run beside this one and have files of their own open for a while.
    try await eventually("no descriptor left behind") { Self.descriptors <= descriptors + 2 }
  }

  private func startAndStop(count: Int) async throws {
    var pipelines: [Pipeline] = []
    for index in 0..<count {
      let pipeline = try Pipeline(description: "appsrc name=leak ! appsink name=out sync=false", name: "p\(index)")
      let source = try pipeline.appSource(named: "leak")
      try pipeline.appSink(named: "out", onBuffer: { _ in })
      try pipeline.start()
      source.push(PacketBuffer(copying: 0..<10), dts: .now)
      pipelines.append(pipeline)
    }
    for pipeline in pipelines { #expect(await pipeline.stop()) }
  }

  /// Streaming threads of this test's own pipelines, which other suites run beside: GStreamer names a thread after the pad
  /// that it serves.
  private static var pipelineThreads: Int {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return tasks.count { task in
      let name = (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) ?? ""
      return name.hasPrefix("leak:src")
    }
  }

  private static var descriptors: Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
  }

  /// The second `queue` is the one, and the caps stand elsewhere, too: told by line and not by the first such word.
  @Test func aMistakeIsToldWhereItIs() {
    func line(_ text: String) -> Int? {
      do {
        _ = try Pipeline(description: text, name: "test") { offset in
          SourceLocation(file: "f", line: 1 + text.utf8.prefix(offset).count { $0 == UInt8(ascii: "\n") })
        }
        return nil
      } catch { return error.location?.line }
    }
    let queues = "fakesrc\n! queue max-size-buffers=3\n! multiqueue\n! queue name=b\n  max-size-buffers=abc\n! fakesink"
    #expect(line(queues) == 5)
    #expect(line("videotestsrc\n! queue\n  leaky=no\n! identity\n  leaky=no ! fakesink") == 5)
    let link = "appsrc caps=\"video/x-raw\"\n! videoconvert\n! video/x-raw,format=RGB\n! vp8enc ! fakesink"
    #expect(line(link) == 4)
  }

  /// A recording in parts of a minute has ended hundreds of them by the evening.
  @Test func whatHasStoppedHoldsNoFiles() async throws {
    var kept: [Pipeline] = []
    func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
    let before = try descriptors()
    for _ in 0..<50 {
      let pipeline = try Pipeline(description: "audiotestsrc num-buffers=1 ! fakesink", name: "test")
      try pipeline.start()
      #expect(await pipeline.stop())
      kept.append(pipeline)
    }
    #expect(try descriptors() < before + 50)
    withExtendedLifetime(kept) {}
  }
}
