import BridgeTesting
import Dispatch
import GStreamerKit
import MediaCore
import Testing

@Suite struct MixerBranchTests {
  private static let mixer = """
    compositor name=videomix background=black start-time-selection=first
    ! video/x-raw,format=I420,width=640,height=240,framerate=50/1 ! appsink name=frames sync=false
    videotestsrc is-live=true do-timestamp=true pattern=black
    ! video/x-raw,width=16,height=16,framerate=50/1 ! queue ! videomix.
    """
  private static let branch = """
    appsrc name=video max-buffers=3 leaky-type=downstream min-latency=0 max-latency=1000000000
    caps="video/x-raw" ! videoconvertscale
    ! textoverlay name=label text=a
    """

  /// Luma in the middle of each half.
  private static func halves(_ media: MediaBuffer) -> [UInt8] {
    VideoFrameBuffer(media)?.withPlanes { planes in
      planes[0].map { plane in [160, 480].map { plane.bytes[120 * plane.stride + $0] } } ?? []
    } ?? []
  }

  private static func gray(_ luma: UInt8) throws -> MediaBuffer {
    let bytes = [UInt8](repeating: luma, count: 320 * 240) + [UInt8](repeating: 128, count: 320 * 120)
    let caps = try #require(Caps("video/x-raw,format=I420,width=320,height=240,framerate=0/1"))
    return bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: .now) }
  }

  @Test func aBranchComesAndGoesWhileTheMixerRuns() async throws {
    let pipeline = try Pipeline(description: Self.mixer, name: "mixer")
    let errors = errors(of: pipeline)
    let shown = Locked<[UInt8]>([])
    try pipeline.appSink(named: "frames", onBuffer: { media in shown.withLock { $0 = Self.halves(media) } })
    try pipeline.start()
    let left = try pipeline.addBranch(description: Self.branch, toMixer: "videomix")
    let right = try pipeline.addBranch(description: Self.branch, toMixer: "videomix")
    let sources = try [left.appSource(named: "video"), right.appSource(named: "video")]
    try right.setInput("xpos", to: "320")
    left.start()
    right.start()
    try await eventually("both") {
      sources[0].push(try Self.gray(100), pts: .now)
      sources[1].push(try Self.gray(200), pts: .now)
      return shown.withLock { $0 } == [100, 200]
    }
    #expect(right.remove(timeLimit: .seconds(20)))
    #expect(right.remove() && right.hasStopped && !left.hasStopped)
    // What stands still stays, also when no further frame of it comes.
    try await eventually("only the left") { shown.withLock { $0.first == 100 && $0.last ?? 255 < 32 } }
    #expect(sources[1].push(try Self.gray(200), pts: .now) == .refused)
    #expect(await pipeline.stop())
    #expect(errors.values.isEmpty)
  }

  /// Whatever a branch is at when it is removed: nothing waits for ever, and the mixer does not fail.
  @Test func branchesThatAreBusyGoAtOnce() async throws {
    let pipeline = try Pipeline(description: Self.mixer, name: "mixer")
    let errors = errors(of: pipeline)
    let count = Locked(0)
    try pipeline.appSink(named: "frames", onBuffer: { _ in count.withLock { $0 += 1 } })
    try pipeline.start()
    for round in 0..<40 {
      let branch = try pipeline.addBranch(description: Self.branch, toMixer: "videomix")
      let source = try branch.appSource(named: "video")
      branch.start()
      for _ in 0..<(round % 8) { source.push(try Self.gray(100), pts: .now) }
      if round % 3 == 0 { try await Task.sleep(for: .milliseconds(round)) }
      branch.remove()
    }
    let before = count.withLock { $0 }
    try await eventually("more frames") { count.withLock { $0 } > before + 5 }
    #expect(await pipeline.stop())
    #expect(errors.values.isEmpty)
  }

  /// Whoever takes it out does not wait for it, and the mixer goes on.
  @Test func aBranchThatHangsHoldsUpNobody() async throws {
    let pipeline = try Pipeline(description: Self.mixer, name: "mixer")
    let errors = errors(of: pipeline)
    let count = Locked(0)
    try pipeline.appSink(named: "frames", onBuffer: { _ in count.withLock { $0 += 1 } })
    try pipeline.start()
    let description = "appsrc name=video caps=\"video/x-raw\" ! identity name=hangs ! videoconvertscale"
    let branch = try pipeline.addBranch(description: description, toMixer: "videomix")
    let (source, hangs) = (try branch.appSource(named: "video"), try branch.element(named: "hangs"))
    let (isHanging, mayGoOn) = (Locked(false), DispatchSemaphore(value: 0))
    try hangs.beforeEachBuffer { _, _ in
      isHanging.withLock { $0 = true }
      mayGoOn.wait()
    }
    branch.start()
    source.push(try Self.gray(100), pts: .now)
    try await eventually("that it hangs") { isHanging.withLock { $0 } }
    let begin = MediaTime.now
    #expect(!branch.remove(timeLimit: .milliseconds(50)) && !branch.hasStopped)
    #expect(MediaTime.now - begin < .seconds(5))
    let before = count.withLock { $0 }
    try await eventually("more frames") { count.withLock { $0 } > before + 5 }
    mayGoOn.signal()
    try await eventually("its end") { branch.hasStopped }
    #expect(await pipeline.stop())
    #expect(errors.values.isEmpty)
    withExtendedLifetime(hangs) {}
  }

  @Test func aBranchWithAMistakeLeavesTheMixerAlone() async throws {
    let pipeline = try Pipeline(description: Self.mixer, name: "mixer")
    let missing = #expect(throws: PipelineError.self) {
      try pipeline.addBranch(description: "appsrc ! nosuchelement", toMixer: "videomix")
    }
    #expect(missing?.kind == .missingElements(["nosuchelement"]))
    let unlinked = #expect(throws: PipelineError.self) {
      try pipeline.addBranch(description: "audiotestsrc", toMixer: "videomix")
    }
    #expect(unlinked?.kind == .link)
    let errors = errors(of: pipeline)
    try pipeline.appSink(named: "frames", onBuffer: { _ in })
    try pipeline.start()
    #expect(await pipeline.stop())
    #expect(errors.values.isEmpty)
  }
}
