import GStreamerKit
import MediaCore
import Testing

@testable import MediaBridge

@Suite struct KeyframeGateTests {
  private func frame(_ run: Int, isDelta: Bool) throws -> CapturedMedia {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    let media = MediaBuffer(copying: nothing, caps: try #require(Caps("video/x-vp8")), pts: nil, isDelta: isDelta)
    return CapturedMedia(media: media, time: .now, isEncoded: true, run: run)
  }

  @Test func itOpensWithAKeyframe() throws {
    var gate = KeyframeGate()
    let taken = try [true, false, true].map { gate.takes(try frame(0, isDelta: $0)) }
    #expect(taken == [false, true, true] && gate.isOpen)
    gate.close()
    let again = try [true, false, true].map { gate.takes(try frame(0, isDelta: $0)) }
    #expect(again == [false, true, true])
  }

  /// Of a server that begins where its stream is.
  @Test func itWaitsForTheNextOneWhereTheSourceBeginsAnew() throws {
    var gate = KeyframeGate()
    let frames = [(1, false), (1, true), (2, true), (2, true), (2, false), (2, true)]
    let taken = try frames.map { gate.takes(try frame($0.0, isDelta: $0.1)) }
    #expect(taken == [true, true, false, false, true, true])
  }
}
