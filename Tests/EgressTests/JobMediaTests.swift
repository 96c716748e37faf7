import BridgeTesting
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import Testing

@testable import Egress

/// The lines of a job.
@Suite struct JobMediaTests {
  /// A line of audio with the times of what comes on it.
  private func line(of media: JobMedia, voice: Int? = nil) throws -> (line: FeedLine, times: Collector<Duration>) {
    let (line, times) = (
      try FeedLine(
        .audio, voice: voice, .asSent, caps: nil, factory: PipelineFactory(folder: nil), onKeyframeNeeded: {}),
      Collector<Duration>()
    )
    line.add(
      FeedLine.Taker(
        id: ObjectIdentifier(line), keyframeInterval: nil, take: { times.add($1.shown) }, fail: { _ in }))
    let frames = FrameRepeater(asSent: nil, size: nil)
    let silence = AudioStandIn(isRaw: false)
    media.add { MediaLine(line, frames: frames, silence: silence?.block, before: $0) }
    return (line, times)
  }

  private func block(at time: MediaTime) throws -> MediaBuffer {
    let silence = try #require(AudioStandIn(isRaw: false))
    return silence.block.withUnsafeBytes {
      MediaBuffer(copying: $0, caps: silence.caps, pts: time, duration: .milliseconds(20))
    }
  }

  /// Nothing stands in for what is paused, however long that lasts.
  @Test func aPauseIsCutOut() throws {
    let media = JobMedia(beginsWithVideo: false, onKeyframeNeeded: {}, onBegin: {})
    let audio = try line(of: media)
    let start = MediaTime.now
    for step in 0..<25 { media.write(try block(at: start + .milliseconds(20) * step), .audio, isRaw: false) }
    #expect(media.pause(at: start + .milliseconds(500)) && media.isPaused)
    media.write(try block(at: start + .seconds(9)), .audio, isRaw: false)
    media.advance(to: start + .seconds(60))
    #expect(media.age(at: start + .seconds(60)) == .milliseconds(500))
    #expect(media.resume(at: start + .seconds(10)) && !media.isPaused)
    for step in 0..<5 {
      media.write(try block(at: start + .seconds(10) + .milliseconds(20) * step), .audio, isRaw: false)
    }
    #expect(audio.times.values == (0..<30).map { .milliseconds(20) * $0 }, "without a gap")
  }

  /// A mix comes some hundred milliseconds later than what one says, of which nothing is to be missing.
  @Test func whatAVoiceSaysAheadOfTheMixIsThere() throws {
    let media = JobMedia(beginsWithVideo: false, onKeyframeNeeded: {}, onBegin: {})
    let (mix, alice) = (try line(of: media), try line(of: media, voice: 2))
    let start = MediaTime.now
    for step in -10..<50 {
      media.write(try block(at: start + .milliseconds(20) * step), .audio, voice: 2, isRaw: false)
    }
    #expect(media.origin == nil && alice.times.values.isEmpty)
    media.write(try block(at: start), .audio, isRaw: false)
    #expect(mix.times.values == [.zero] && alice.times.values == (0..<50).map { .milliseconds(20) * $0 })
  }

  /// As on a busy machine, where a frame is decoded and encoded later than audio.
  @Test func audioThatIsThereSoonerThanTheFirstFrameIsKept() throws {
    let media = JobMedia(beginsWithVideo: true, onKeyframeNeeded: {}, onBegin: {})
    let audio = try line(of: media)
    let video = try FeedLine(.video, .raw, caps: nil, factory: PipelineFactory(folder: nil), onKeyframeNeeded: {})
    media.add { MediaLine(video, frames: FrameRepeater(asSent: nil, size: nil), silence: nil, before: $0) }
    let start = MediaTime.now
    // More than anybody waits for.
    for step in -1000..<20 { media.write(try block(at: start + .milliseconds(20) * step), .audio, isRaw: false) }
    #expect(audio.times.values.isEmpty)
    let black = try #require(MediaBuffer.blackFrame(width: 320, height: 180))
    let frame = black.withUnsafeBytes { MediaBuffer(copying: $0, caps: black.caps, pts: start) }
    media.write(frame, .video, isRaw: true)
    #expect(audio.times.values == (0..<20).map { .milliseconds(20) * $0 })
  }

  /// A camera that is muted before its first frame.
  @Test func whatWasToBeginWithAFrameBeginsWithTheAudioThatIsKept() throws {
    let begun = Collector<Bool>()
    let media = JobMedia(beginsWithVideo: true, onKeyframeNeeded: {}, onBegin: { begun.add(true) })
    let audio = try line(of: media)
    let start = MediaTime.now
    for step in 0..<10 { media.write(try block(at: start + .milliseconds(20) * step), .audio, isRaw: false) }
    #expect(media.awaitsFrame && media.holdsAudio && begun.count == 0 && audio.times.values.isEmpty)
    media.beginWithAudio()
    #expect(!media.awaitsFrame && begun.count == 1)
    for step in 10..<20 { media.write(try block(at: start + .milliseconds(20) * step), .audio, isRaw: false) }
    media.beginWithAudio()
    #expect(audio.times.values == (0..<20).map { .milliseconds(20) * $0 } && begun.count == 1)
  }

  /// A voice comes sooner than the mix: it does not begin the job, and misses nothing of what is mixed.
  @Test func aVoiceGoesAlongWithTheMix() throws {
    let media = JobMedia(beginsWithVideo: false, onKeyframeNeeded: {}, onBegin: {})
    let (mix, alice) = (try line(of: media), try line(of: media, voice: 2))
    let start = MediaTime.now
    media.write(try block(at: start - .milliseconds(20)), .audio, voice: 2, isRaw: false)
    #expect(media.origin == nil && alice.times.values.isEmpty)
    for step in 0..<10 { media.write(try block(at: start + .milliseconds(20) * step), .audio, isRaw: false) }
    for step in 0..<50 { media.write(try block(at: start + .milliseconds(20) * step), .audio, voice: 2, isRaw: false) }
    #expect(mix.times.count == 10 && alice.times.count == 50)
    let bob = try line(of: media, voice: 3)
    media.write(try block(at: start + .milliseconds(200)), .audio, voice: 3, isRaw: false)
    #expect(bob.times.values == [.milliseconds(200)], "from where the mix is")
  }

  /// An hour of silence would be made for it at once.
  @Test func aLineThatIsMadeLateHasNoPast() throws {
    let media = JobMedia(beginsWithVideo: false, onKeyframeNeeded: {}, onBegin: {})
    let first = try line(of: media)
    let start = MediaTime.now
    media.write(try block(at: start), .audio, isRaw: false)
    media.advance(to: start + .seconds(60))
    let late = try line(of: media)
    media.advance(to: start + .seconds(62))
    #expect(first.times.count > 3000)
    #expect(late.times.values.first == .milliseconds(58_500) && late.times.count == 100)
    #expect(first.times.values.last == late.times.values.last)
  }

  /// However late it is told to end.
  @Test func itLastsAsLongAsAsked() throws {
    let media = JobMedia(beginsWithVideo: false, duration: .seconds(1), onKeyframeNeeded: {}, onBegin: {})
    let audio = try line(of: media)
    let start = MediaTime.now
    for step in 0..<40 { media.write(try block(at: start + .milliseconds(20) * step), .audio, isRaw: false) }
    media.advance(to: start + .seconds(60))
    for step in 40..<80 { media.write(try block(at: start + .milliseconds(20) * step), .audio, isRaw: false) }
    media.end(at: start + .seconds(60))
    media.complete(at: start + .seconds(60))
    #expect(audio.times.values == (0..<50).map { .milliseconds(20) * $0 })
  }

  /// As on a busy machine, where nothing comes for a moment just at the end.
  @Test func whatIsOnItsWayAtTheEndIsThere() async throws {
    let media = JobMedia(beginsWithVideo: false, onKeyframeNeeded: {}, onBegin: {})
    let audio = try line(of: media)
    let start = MediaTime.now - .seconds(1)
    for step in 0..<45 { media.write(try block(at: start + .milliseconds(20) * step), .audio, isRaw: false) }
    media.end(at: start + .seconds(1))
    let end = Task {
      await media.awaitEnd()
      media.complete(at: start + .seconds(1))
    }
    try await Task.sleep(for: .milliseconds(200))
    for step in 45..<60 { media.write(try block(at: start + .milliseconds(20) * step), .audio, isRaw: false) }
    await end.value
    #expect(media.written(on: audio.line) == 50, "silence stands in for the rest")
    #expect(audio.times.values == (0..<50).map { .milliseconds(20) * $0 })
  }

  /// What is of one sender comes in order.
  @Test func whatIsBehindTheEndSaysThatNothingElseComes() throws {
    let media = JobMedia(beginsWithVideo: false, onKeyframeNeeded: {}, onBegin: {})
    let start = MediaTime.now
    var line = MediaLine(try line(of: media).line, frames: FrameRepeater(asSent: nil, size: nil), silence: nil)
    line.begin(at: start)
    line.hear(try block(at: start), at: start, now: start)
    #expect(line.limit(for: start + .seconds(1)) == start + .seconds(1))
    line.passedEnd()
    #expect(line.limit(for: start + .seconds(1)) == nil)
  }

  /// What is cut out does not count, and an end within it is where it began.
  @Test func aPauseMakesItNoShorter() throws {
    let media = JobMedia(beginsWithVideo: false, duration: .seconds(1), onKeyframeNeeded: {}, onBegin: {})
    let audio = try line(of: media)
    let start = MediaTime.now
    for step in 0..<25 { media.write(try block(at: start + .milliseconds(20) * step), .audio, isRaw: false) }
    #expect(media.pause(at: start + .milliseconds(500)) && media.resume(at: start + .seconds(10)))
    for step in 500..<600 { media.write(try block(at: start + .milliseconds(20) * step), .audio, isRaw: false) }
    #expect(audio.times.count == 50 && media.length == .seconds(1))
  }

  /// A mix of video may be as far behind that of audio as somebody has set.
  @Test func anEncoderThatBeginsLateTakesWhatIsFarBehindTheAudio() async throws {
    let media = JobMedia(beginsWithVideo: false, onKeyframeNeeded: {}, onBegin: {})
    media.expect([.video: .seconds(15)])
    _ = try line(of: media)
    let start = MediaTime.now
    media.write(try block(at: start), .audio, isRaw: false)
    media.advance(to: start + .seconds(20))
    let factory = PipelineFactory(folder: nil)
    let encoder = try factory.fill(.encode, "h264", values: ["width": "320", "height": "180"])
    let video = try FeedLine(.video, .encoded(encoder), caps: nil, factory: factory, onKeyframeNeeded: {})
    let times = Collector<Duration>()
    video.add(
      FeedLine.Taker(
        id: ObjectIdentifier(video), keyframeInterval: nil, take: { times.add($1.shown) }, fail: { _ in }))
    media.add { MediaLine(video, frames: FrameRepeater(asSent: nil, size: nil), silence: nil, before: $0) }
    let black = try #require(MediaBuffer.blackFrame(width: 320, height: 180))
    for step in 0..<5 {
      let frame = black.withUnsafeBytes {
        MediaBuffer(copying: $0, caps: black.caps, pts: start + .milliseconds(40) * step)
      }
      media.write(frame, .video, isRaw: true)
    }
    await video.drain()
    await video.stop()
    #expect(times.values == (0..<5).map { .milliseconds(40) * $0 })
  }

  /// Encoders of AAC and MP3 fill what is missing with silence; of hours it would hold up the destination for minutes.
  @Test(arguments: ["aac", "mp3", "opus"])
  func anEncoderThatBeginsLateMakesNothingOfWhatWasBefore(_ encoder: String) async throws {
    let factory = PipelineFactory(folder: nil)
    let silence = try #require(AudioStandIn(isRaw: true))
    let line = try FeedLine(
      .audio, .encoded(try factory.fill(.encode, encoder, values: [:])), caps: silence.caps, factory: factory,
      onKeyframeNeeded: {})
    let times = Collector<Duration>()
    line.add(
      FeedLine.Taker(
        id: ObjectIdentifier(line), keyframeInterval: nil, take: { times.add($1.shown) }, fail: { _ in }))
    let start = Duration.seconds(7200)
    line.begin(from: start)
    for step in 0..<50 { line.push(silence.block, at: start + .milliseconds(20) * step) }
    await line.drain()
    await line.stop()
    let heard = times.values.filter { $0 >= start - .milliseconds(30) }
    #expect((38...53).contains(heard.count) && heard.count * 20 > times.count)
    #expect(try #require(heard.last) > start + .milliseconds(900) && heard == heard.sorted())
    #expect(try #require(times.values.first) >= start - .seconds(10))
  }
}
