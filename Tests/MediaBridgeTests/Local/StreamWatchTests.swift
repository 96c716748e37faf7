import GStreamerKit
import MediaCore
import Testing

@testable import MediaBridge

@Suite struct StreamWatchTests {
  /// Frames 40 ms apart, of which each `interval`th is a keyframe.
  private func follow(_ watch: inout StreamWatch, _ count: Int, keyframeEach interval: Int) -> [Int: String] {
    var said: [Int: String] = [:]
    for index in 0..<count {
      said[index] = watch.note(frame(index, isKeyframe: index % interval == 0))
    }
    return said
  }

  private func frame(
    _ index: Int, isKeyframe: Bool = false, isBidirectional: Bool = false, codec: VideoCodec = .h264
  ) -> StreamWatch.Frame {
    StreamWatch.Frame(
      codec: codec, time: MediaTime(nanoseconds: Int64(index) * 40_000_000), isKeyframe: isKeyframe,
      isBidirectional: isBidirectional)
  }

  @Test func whatHasKeyframesOftenGoesOn() {
    var watch = StreamWatch()
    #expect(follow(&watch, 1000, keyframeEach: 100).isEmpty)
    #expect(watch.length == .milliseconds(39_960))
  }

  @Test func keyframesThatAreFarApartAreSeenAsSoonAsTheyAreLate() {
    var watch = StreamWatch()
    let said = follow(&watch, 250, keyframeEach: 250)
    // 4 s, and half a second for what jitters.
    #expect(said.keys.min() == 113)
    #expect(said[113] == "its keyframes are more than 4 s apart")
  }

  @Test func bFramesAreSeenWhenTheyCome() {
    var watch = StreamWatch()
    #expect(follow(&watch, 60, keyframeEach: 50).isEmpty)
    #expect(watch.note(frame(60, isBidirectional: true)) == "it has B-frames")
    var other = StreamWatch()
    #expect(follow(&other, 3, keyframeEach: 50).isEmpty)
    #expect(other.note(frame(1)) == "it has B-frames")
  }

  @Test func aSourceThatBeginsAnewHasNoBFrames() {
    var watch = StreamWatch()
    #expect(follow(&watch, 60, keyframeEach: 50).isEmpty)
    #expect(watch.note(frame(2, isKeyframe: true)) == nil)
  }

  /// Its first frames need those that it did not send.
  @Test func aSourceThatBeginsAnewWithinItsGroupHasNoLateKeyframe() throws {
    let (nothing, caps) = (UnsafeRawBufferPointer(start: nil, count: 0), try #require(Caps("video/x-vp8")))
    func captured(_ index: Int, run: Int) -> CapturedMedia {
      let media = MediaBuffer(copying: nothing, caps: caps, pts: nil, isDelta: index > 0)
      return CapturedMedia(
        media: media, time: MediaTime(nanoseconds: Int64(index) * 40_000_000), isEncoded: true, run: run)
    }
    var watch = StreamWatch()
    let before = (0..<100).compactMap { watch.note(captured($0, run: 1)) }
    let after = (98..<200).compactMap { watch.note(captured($0, run: 2)) }
    #expect(before.isEmpty && after.isEmpty)
  }

  @Test func anotherCodecIsSeen() {
    var watch = StreamWatch()
    #expect(follow(&watch, 3, keyframeEach: 50).isEmpty)
    #expect(watch.note(frame(3, isKeyframe: true, codec: .vp8)) == "it is VP8 now")
  }

  /// What caps say is asked of each once.
  @Test func capsThatChangeAreSeen() throws {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    func captured(_ caps: Caps, at time: Int64) -> CapturedMedia {
      let media = MediaBuffer(copying: nothing, caps: caps, pts: nil)
      return CapturedMedia(media: media, time: MediaTime(nanoseconds: time), isEncoded: true)
    }
    let (vp8, vp9) = (try #require(Caps("video/x-vp8")), try #require(Caps("video/x-vp9")))
    var (watch, carried) = (StreamWatch(), CapsReading<Bool>())
    for time in 0..<3 {
      let obstacle = watch.note(captured(vp8, at: Int64(time)))
      #expect(obstacle == nil)
      let isOurs = carried.value(of: vp8) { $0.mediaType == "video/x-vp8" }
      #expect(isOurs)
    }
    let obstacle = watch.note(captured(vp9, at: 3))
    #expect(obstacle == "it is VP9 now")
    let isOurs = [vp9, vp8].map { caps in carried.value(of: caps) { $0.mediaType == "video/x-vp8" } }
    #expect(isOurs == [false, true])
  }

  /// As libvpx writes it for frames that it has sent ahead of the others.
  @Test func aFrameThatIsShownTwiceIsNoPacket() throws {
    let caps = try #require(Caps("video/x-vp9"))
    func captured(_ bytes: [UInt8]) -> CapturedMedia {
      let media = bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
      return CapturedMedia(media: media, time: .now, isEncoded: true)
    }
    var watch = StreamWatch()
    let (whole, existing) = (captured([0x82, 0x49, 0x83, 0x42]), captured([0x88]))
    let obstacles = [whole, existing].map { watch.note($0) }
    #expect(obstacles == [nil, "it shows frames a second time"] && whole.fitsPackets && !existing.fitsPackets)
  }

  // MARK: What is known before

  private func stream(_ caps: String, isEncoded: Bool = true) throws -> CarriedStream? {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    let media = MediaBuffer(copying: nothing, caps: try #require(Caps(caps)), pts: nil)
    return CarriedStream(CapturedMedia(media: media, time: .now, isEncoded: isEncoded))
  }

  @Test(arguments: [
    ("video/x-h264,width=640,height=360,profile=(string)high,chroma-format=(string)4:2:0,bit-depth-luma=8", nil),
    ("video/x-h264,width=640,height=360,profile=(string)high-4:4:4", "profile high-4:4:4"),
    ("video/x-h264,width=640,height=360,chroma-format=(string)4:2:2", "colours"),
    ("video/x-vp9,width=640,height=360,profile=(string)2", "colours"),
    ("video/x-h264,width=640,height=360,interlace-mode=(string)interleaved", "interlaced"),
    ("video/x-h264,width=640,height=360,pixel-aspect-ratio=(fraction)4/3", "square"),
    ("video/x-vp8", "size"), ("video/x-vp8,width=640,height=360", nil), ("video/x-h265,width=640,height=360", "H.265"),
  ]) func whatNotEverybodyDecodesIsNotSentAsItIs(_ caps: String, _ word: String?) throws {
    let obstacle = try #require(try stream(caps)).obstacle(accepted: Passthrough.possible.video)
    #expect(word.map { obstacle?.contains($0) == true } ?? (obstacle == nil), "\(obstacle ?? "nothing")")
  }

  @Test func theRoomHasToTakeIt() throws {
    let h264 = try #require(try stream("video/x-h264,width=640,height=360"))
    #expect(h264.obstacle(accepted: [.vp8]) == "the room takes no H.264")
    #expect(try stream("video/x-raw,width=640,height=360", isEncoded: false) == nil)
  }

  @Test func whatIsAskedOfAnEncoderIsEncoded() throws {
    let h264 = try #require(try stream("video/x-h264,width=1280,height=720"))
    func plan(_ options: VideoPublishOptions, encoder: Set<String> = []) -> PublishPlan {
      PublishPlan(options, name: "camera", stream: h264, accepted: Passthrough.possible.video, encoder: encoder)
    }
    let asItIs = plan(VideoPublishOptions())
    #expect(asItIs.isAsItIs && asItIs.codec == "h264" && asItIs.layers.count == 1)
    let encoded = plan(VideoPublishOptions(encoding: VideoEncoding(maxBitrate: 500_000)))
    #expect(!encoded.isAsItIs && encoded.codec == "vp8" && encoded.layers.count == 3)
    #expect(encoded.reason == "a bitrate of its own was asked for")
    let set = plan(VideoPublishOptions(values: ["cpu-used": "4", "mtu": "900"]), encoder: ["cpu-used"])
    #expect(!set.isAsItIs && set.reason == "its cpu-used was set")
    #expect(plan(VideoPublishOptions(values: ["mtu": "900"]), encoder: ["cpu-used"]).isAsItIs)
  }

  // MARK: The link

  @Test func theRateIsThatOfTheLastSeconds() {
    var rate = PassedRate()
    #expect(rate.bitrate == 30_000)
    for index in 0..<250 {
      rate.note(bytes: index < 125 ? 5000 : 10_000, at: MediaTime(nanoseconds: Int64(index) * 40_000_000))
    }
    #expect((1_900_000...2_100_000).contains(rate.bitrate), "\(rate.bitrate)")
  }
}
