import BridgeTesting
import MediaCore
import Testing

@testable import GStreamerKit

/// Frames of another size than their caps say.
@Suite struct FrameFitTests {
  @Test func whatFitsIsTakenAndWhatDoesNotIsSaid() {
    var fit = FrameFit(least: 100)
    func verdict(_ bytes: Int, _ fit: inout FrameFit) -> FrameFit.Verdict { fit.take(bytes, in: nil, at: .now).0 }
    let verdicts = [100, 100, 0, 100, 80, 100, 120, 120, 120].map { verdict($0, &fit) }
    #expect(verdicts == [.fits, .fits, .empty, .fits, .another, .fits, .another, .fits, .fits])
    var padded = FrameFit(least: 100)
    #expect([112, 112, 100].map { verdict($0, &padded) } == [.fits, .fits, .another], "lines may be padded")
    var other = FrameFit(least: nil)
    #expect([0, 1, 2].allSatisfy { verdict($0, &other) == .fits }, "what is not raw")
  }

  /// A window of KWin's gives no frame of its new size before it is asked for.
  @Test func whatComesAgainPassesAndIsAskedAboutAtTimes() {
    var fit = FrameFit(least: 100)
    let found = (0..<10).map { number -> Bool in
      let (verdict, asks) = fit.take(100, in: 7, at: MediaTime(nanoseconds: 500_000_000 * Int64(number)))
      #expect(verdict == .fits)
      return asks
    }
    #expect(found.indices.filter { found[$0] } == [1, 5, 9])
    let moving = (0..<10).map { fit.take(100, in: UInt($0 + 8), at: MediaTime(nanoseconds: 10_000_000_000)).asks }
    #expect(!moving.contains(true), "others are no repetition")
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
