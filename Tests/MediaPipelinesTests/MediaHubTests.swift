import GStreamerKit
import MediaCore
import MediaPipelines
import Testing

@Suite struct MediaHubTests {
  private let asked = Locked(0)

  /// A frame whose time is its number in milliseconds.
  private func frame(_ number: Int, isKeyframe: Bool = false) throws -> MediaBuffer {
    try GStreamer.initialize()
    let caps = try #require(Caps("video/x-vp8"))
    let time = MediaTime(nanoseconds: Int64(number) * 1_000_000)
    return [UInt8(0)].withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: time, isDelta: !isKeyframe) }
  }

  private func hub(_ dependence: KeptGroup<MediaBuffer>.Dependence?) -> MediaHub {
    MediaHub(dependence) { [asked] in asked.withLock { $0 += 1 } }
  }

  /// The numbers of the frames that a consumer gets.
  private func consumer(_ got: Locked<[Int]>) -> MediaConsumer {
    MediaConsumer(
      onFailure: { _ in },
      onBuffer: { media in got.withLock { $0.append(Int((media.pts?.nanoseconds ?? -1) / 1_000_000)) } })
  }

  @Test func aSecondConsumerBeginsWithTheNewestKeyframe() throws {
    let hub = hub(.sinceKeyframe)
    let (first, second) = (Locked<[Int]>([]), Locked<[Int]>([]))
    hub.add(consumer(first))
    for number in 0..<6 { hub.deliver(try frame(number, isKeyframe: number.isMultiple(of: 3))) }
    hub.add(consumer(second))
    for number in 6..<8 { hub.deliver(try frame(number)) }
    #expect(second.withLock { $0 } == [3, 4, 5, 6, 7])
    #expect(first.withLock { $0 } == Array(0..<8) && asked.withLock { $0 } == 0)
  }

  @Test func whatIsDecodedComesFromTheNextFrameOn() throws {
    let hub = hub(nil)
    let (first, second) = (Locked<[Int]>([]), Locked<[Int]>([]))
    hub.add(consumer(first))
    hub.deliver(try frame(0, isKeyframe: true))
    hub.add(consumer(second))
    hub.deliver(try frame(1, isKeyframe: true))
    #expect(second.withLock { $0 } == [1] && first.withLock { $0 } == [0, 1])
  }

  /// Between two consumers nothing comes, so what was kept before is not gone on from.
  @Test func nothingIsKeptWithoutAConsumer() throws {
    let hub = hub(.sinceKeyframe)
    let got = Locked<[Int]>([])
    let first = consumer(Locked([]))
    hub.add(first)
    hub.deliver(try frame(0, isKeyframe: true))
    hub.remove(first)
    hub.add(consumer(got))
    for number in 1..<4 { hub.deliver(try frame(number, isKeyframe: number == 3)) }
    #expect(got.withLock { $0 } == [3] && asked.withLock { $0 } == 1)
  }
}
