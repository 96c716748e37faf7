import GStreamerKit
import Testing

@testable import MediaPipelines

@Suite struct SizeWatchTests {
  private func caps(_ width: Int, _ rest: String = "") throws -> Caps {
    try #require(Caps("video/x-h264,width=\(width),height=180\(rest)"))
  }

  @Test func anotherSizeIsToldOnce() throws {
    var watch = SizeWatch()
    let first = try caps(320)
    #expect(!watch.isOther(first) && !watch.isOther(first))
    #expect(!watch.isOther(try caps(320, ",codec_data=(buffer)11")))
    #expect(watch.isOther(try caps(640)))
    #expect(!watch.isOther(try caps(1280)) && !watch.isOther(first))
  }
}
