import BridgeTesting
import MediaCore
import Testing

@testable import GStreamerKit

@Suite struct TeeBranchTests {
  /// A branch that comes or goes while its pipeline stops would be left in a state in which nothing can be let go of.
  @Test(arguments: [false, true]) func comesAndGoesWhileThePipelineStops(isRemoved: Bool) async throws {
    for _ in 0..<100 {
      let pipeline = try Pipeline(
        description: "audiotestsrc is-live=true ! tee name=media allow-not-linked=true", name: "test")
      try pipeline.start()
      let branch = try pipeline.makeBranch(description: "identity ! fakesink name=end async=false", behindTee: "media")
      let end = try #require(branch.element(named: "end"))
      if isRemoved { branch.start { [] } }
      async let isStopped = pipeline.stop()
      if isRemoved { branch.remove() } else { branch.start { [] } }
      #expect(await isStopped)
      // GST_STATE_NULL; which module the name is seen in depends on how the compiler groups the files.
      #expect(end.shared.pointer.pointee.current_state.rawValue == 1)
    }
  }

  /// The level of GStreamer's queue counts from zero until something has come out, and a pause as media that waits.
  @Test func whatWaitsForABranchIsMeasured() async throws {
    let pipeline = try Pipeline(
      description: "appsrc name=in format=time caps=application/x-test ! tee name=media allow-not-linked=true",
      name: "test")
    let (levels, passed) = (Collector<Duration>(), Locked(0))
    let branch = try pipeline.makeBranch(
      description: "identity sleep-time=20000 ! appsink name=end sync=false async=false", behindTee: "media",
      inlet: { _, queued in
        levels.add(queued)
        return true
      })
    try branch.appSink(named: "end") { _ in passed.withLock { $0 += 1 } }
    let source = try pipeline.appSource(named: "in")
    try pipeline.start()
    branch.start { [] }
    let caps = try #require(Caps("application/x-test"))
    func push(_ time: Duration) throws {
      let media = [UInt8](repeating: 0, count: 8).withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
      #expect(source.push(media, pts: MediaTime(nanoseconds: 0) + time, dts: nil) == .queued)
    }
    for number in 0..<5 { try push(.seconds(100) + .milliseconds(number)) }
    try await eventually("the first five") { passed.withLock { $0 } == 5 }
    for number in 0..<2 { try push(.seconds(200) + .milliseconds(number)) }
    try await eventually("all") { passed.withLock { $0 } == 7 }
    #expect(levels.count == 7 && levels.values.allSatisfy { $0 <= .milliseconds(5) })
    #expect(levels.values[4] > .zero && levels.values[0] == .zero && levels.values[5] == .zero)
    #expect(await pipeline.stop())
  }

  /// One failure may be several errors, and none is one of the pipeline.
  @Test func failsAlone() async throws {
    let pipeline = try Pipeline(
      description: "appsrc name=in format=time caps=application/x-test ! tee name=media allow-not-linked=true",
      name: "test")
    let (told, others) = (Collector<PipelineError>(), errors(of: pipeline))
    let end = "queue ! identity error-after=1 ! fakesink async=false"
    let branch = try pipeline.makeBranch(description: "tee name=both ! \(end) both. ! \(end)", behindTee: "media")
    branch.onFailure { told.add($0) }
    let source = try pipeline.appSource(named: "in")
    try pipeline.start()
    branch.start { [] }
    let caps = try #require(Caps("application/x-test"))
    let media = [UInt8](repeating: 0, count: 8).withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: .now) }
    source.push(media)
    try await eventually("both errors") { told.count == 2 }
    branch.remove()
    #expect(await pipeline.stop())
    #expect(others.values.isEmpty && told.values.allSatisfy { $0.element?.hasPrefix("identity") == true })
  }

  /// The tee would let all of it go, and nothing would ever come out.
  @Test func oneThatDoesNotTakeWhatTheTeeHasFails() async throws {
    let pipeline = try Pipeline(
      description: "appsrc name=in format=time ! tee name=media media. ! appsink name=out sync=false async=false",
      name: "test")
    let (told, others, isBegun) = (Collector<PipelineError>(), errors(of: pipeline), Locked(false))
    let branch = try pipeline.makeBranch(
      description: "  audioconvert ! fakesink async=false", behindTee: "media",
      locate: { SourceLocation(file: "a", line: $0) })
    branch.onFailure { told.add($0) }
    let (source, seen) = (try pipeline.appSource(named: "in"), Locked(0))
    try pipeline.appSink(named: "out") { _ in seen.withLock { $0 += 1 } }
    try pipeline.start()
    let caps = try #require(Caps("application/x-test"))
    source.push([UInt8](repeating: 0, count: 8).withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: .now) })
    try await eventually("what the tee has") { seen.withLock { $0 } == 1 }
    branch.start {
      isBegun.withLock { $0 = true }
      return []
    }
    try await eventually("the error") { told.count == 1 }
    let error = try #require(told.values.first)
    #expect(error.kind == .link && error.message == #"audioconvert does not take what comes out of "media""#)
    #expect(error.location == SourceLocation(file: "a", line: 2) && !isBegun.withLock { $0 })
    branch.remove()
    #expect(await pipeline.stop())
    #expect(others.values.isEmpty)
  }

  /// What GStreamer would guess by the size is the same for all layers of a camera.
  @Test(arguments: [
    ("raw,format=I420,width=1280,height=720", "bt601"),
    ("raw,format=I420,width=640,height=360,colorimetry=2:4:0:0", "bt601"),
    ("raw,format=I420,width=1280,height=720,colorimetry=bt709", "bt709"),
    ("raw,format=I420,width=1280,height=720,colorimetry=1:4:0:0", "1:4:0:0"),
    ("raw,format=RGBA,width=1280,height=720", nil), ("vp8,width=1280,height=720", "bt601"),
    ("h264,stream-format=avc", "bt601"), ("h264,stream-format=avc,colorimetry=bt709", "bt709"), ("vp9", nil),
  ]) func colorsThatAreLeftOpenAreThoseOfWebRTC(_ format: String, _ colorimetry: String?) async throws {
    let caps = try #require(Caps("video/x-\(format)"))
    let pipeline = try Pipeline(
      description: "appsrc name=in max-bytes=0 ! tee name=media allow-not-linked=true", name: "test")
    let frames = Collector<MediaBuffer>()
    let branch = try pipeline.makeBranch(
      description: "identity ! appsink name=end sync=false async=false", behindTee: "media")
    try branch.appSink(named: "end", describe: \.completingColors) { frames.add($0) }
    let source = try pipeline.appSource(named: "in")
    try pipeline.start()
    branch.start { [] }
    let bytes = [UInt8](repeating: 0, count: 1280 * 720 * 4)
    for _ in 0..<2 { source.push(bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: .now) }) }
    try await eventually("two frames") { frames.values.count == 2 }
    #expect(frames.values.map { $0.caps.string("colorimetry") } == [colorimetry, colorimetry])
    #expect(await pipeline.stop())
  }
}
