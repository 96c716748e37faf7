import BridgeTesting
import MediaCore
import Testing

@testable import GStreamerKit

/// Frames of another size than their caps say.
@Suite struct FrameFitTests {
  @Test func whatFitsIsTakenAndWhatDoesNotIsSaid() {
    var fit = FrameFit(least: 100)
    let verdicts = [100, 100, 0, 100, 80, 100, 120, 120, 120].map { fit.take($0) }
    #expect(verdicts == [.fits, .fits, .empty, .fits, .another, .fits, .another, .fits, .fits])
    var padded = FrameFit(least: 100)
    #expect([112, 112, 100].map { padded.take($0) } == [.fits, .fits, .another], "lines may be padded")
    var other = FrameFit(least: nil)
    #expect([0, 1, 2].allSatisfy { other.take($0) == .fits }, "what is not raw")
  }

  @Test func misfitsAreLeftOutAndTheSourceIsAskedOnce() async throws {
    let caps = "video/x-raw,format=GRAY8,width=8,height=8,framerate=0/1"
    let pipeline = try Pipeline(
      description:
        "appsrc name=in caps=\(caps) ! identity name=before ! identity name=paced ! appsink name=out sync=false",
      name: "test")
    let sizes = Collector<Int>()
    let asked = Collector<Bool>()
    let source = try pipeline.appSource(named: "in")
    try pipeline.appSink(named: "out", onBuffer: { sizes.add($0.size) })
    try pipeline.leaveOutMisfits(into: "paced")
    try pipeline.onFormatWish(ofSinkNamed: "before") { asked.add(true) }
    try pipeline.start()
    for (number, size) in [64, 64, 64, 30, 30, 64, 80, 80].enumerated() {
      source.push(
        PacketBuffer(copying: Array(repeating: 1, count: size)), pts: MediaTime(nanoseconds: Int64(number)), dts: nil)
    }
    try await pipeline.sendEndOfStream()
    await pipeline.stop()
    #expect(sizes.values == [64, 64, 64, 64, 80] && asked.count == 1)
  }
}
