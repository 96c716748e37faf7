import MediaCore
import Testing

@testable import MediaBridge

@Suite struct LocalMediaTests {
  /// Hands out what a test says.
  private final class Script: MediaCapture {
    private let handlers = Locked<CaptureHandlers?>(nil)
    func start(_ handlers: CaptureHandlers) { self.handlers.withLock { $0 = handlers } }
    func stop() { handlers.withLock { $0 = nil } }
    func give(width: Int) throws {
      let frame = try #require(
        VideoFrame(i420: [UInt8](repeating: 128, count: width * 2 * 3 / 2), width: width, height: 2))
      handlers.withLock { $0 }?.media(CapturedMedia(media: frame.buffer.media, time: frame.time))
    }
    func fail() { handlers.withLock { $0 }?.end(LiveKitError(.pipeline, "unplugged")) }
  }

  private func width(of captured: CapturedMedia) -> Int32? { VideoFrame(captured)?.dimensions.width }

  @Test func whatFailedOnceMayComeAnotherTime() async throws {
    let script = Script()
    let media = LocalMedia(script)
    try await media.capture(true)
    script.fail()
    await #expect(throws: LiveKitError.self) { try await media.first.value() }
    try await media.capture(false)
    try await media.capture(true)
    try script.give(width: 16)
    #expect(width(of: try await media.first.value()) == 16)
  }

  @Test func theFirstFrameIsThatOfEachTime() async throws {
    let script = Script()
    let media = LocalMedia(script)
    for size in [16, 32] {
      try await media.capture(true)
      try script.give(width: size)
      try script.give(width: 64)
      #expect(width(of: try await media.first.value()) == Int32(size))
      try await media.capture(false)
    }
  }
}
