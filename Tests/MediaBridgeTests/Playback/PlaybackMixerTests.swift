import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import MediaPipelines
import Testing

@testable import MediaBridge

/// The template `playback` and its inputs, without a room.
@Suite(.serialized) struct PlaybackMixerTests {
  private static let caps = "audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2"

  private func tone(_ frequency: Int, samples: Int = 960, caps: String = caps) throws -> MediaBuffer {
    let caps = try #require(Caps(caps))
    let tone = (0..<samples).flatMap { sample -> [Int16] in
      let value = Int16(9830 * sin(Double(sample * frequency) * 2 * .pi / 48_000))
      return [value, value]
    }
    return tone.withUnsafeBytes {
      MediaBuffer(copying: $0, caps: caps, pts: nil, duration: .nanoseconds(Int64(samples) * 1_000_000_000 / 48_000))
    }
  }

  private func run(_ body: (PlaybackMixer, PlayedAudio, Collector<PlaybackMixer.Failure>) async throws -> Void)
    async throws
  {
    let played = try PlayedAudio()
    let failures = Collector<PlaybackMixer.Failure>()
    let mixer = try PlaybackMixer(factory: played.factory, values: [:], onFailure: { failures.add($0) })
    try await body(mixer, played, failures)
    await mixer.stop()
    #expect(!isOpen(played.file))
  }

  /// Pushes `count` buffers in real time, each `step` after the one before.
  private func push(
    _ media: MediaBuffer, into input: PlaybackInput, count: Int, step: Duration = .milliseconds(20),
    ago: Duration = .zero
  ) async throws {
    let start = MediaTime.now
    for index in 0..<count {
      let time = start + step * index
      input.play(media, at: time - ago)
      try await Task.sleep(for: max(time + step - .now, .zero))
    }
  }

  @Test func anInputThatFailsStopsOnlyItself() async throws {
    try await run { mixer, played, failures in
      let (good, bad) = (try mixer.addInput(), try mixer.addInput())
      try await mixer.start()
      bad.play(try tone(400, caps: "video/x-raw,format=RGB,width=16,height=16,framerate=0/1"), at: .now)
      try await push(try tone(1000), into: good, count: 40)
      try await eventually("the failure") { failures.count > 0 }
      guard case .input(bad.name, _) = failures.values[0] else {
        Issue.record("not the failure of one input: \(failures.values)")
        return
      }
      bad.remove()
      try await push(try tone(1000), into: good, count: 30)
      #expect(played.newest(1000) > 0.25)
      good.remove()
      good.remove()
    }
  }

  @Test func whatIsLateIsLeftOutAndHeldUpForNobody() async throws {
    try await run { mixer, played, failures in
      let (late, other) = (try mixer.addInput(), try mixer.addInput())
      try await mixer.start()
      let tone = try tone(1000)
      let pushing = Task { try await push(tone, into: other, count: 60) }
      try await push(try self.tone(400), into: late, count: 60, ago: .milliseconds(500))
      try await pushing.value
      #expect(played.newest(1000) > 0.25)
      #expect(amplitude(of: 400, in: played.samples()[...]) < 0.005)
      #expect(late.source.queuedBuffers <= 2)
      #expect(failures.count == 0)
    }
  }

  /// Behind a stall all audio comes later than the mixer waits: it is played later, and only the stall is missing.
  @Test func aTrackThatComesLaterIsPlayedLater() async throws {
    try await run { mixer, played, _ in
      let (tap, input) = (PlaybackTap(), try mixer.addInput())
      try await mixer.start()
      tap.open(input)
      let audio = try #require(AudioBuffer(try tone(1000)))
      let (start, step, stall) = (MediaTime.now, Duration.milliseconds(20), Duration.milliseconds(380))
      for index in 0..<80 {
        let time = start + step * index
        let arrival = index < 20 ? time : time + stall
        try await Task.sleep(for: max(arrival - .now, .zero))
        tap.play(AudioPCMBuffer(buffer: audio, time: time))
      }
      // Of 160 blocks of 10 ms those ahead of the stall are 40.
      try await eventually("all of it", within: .seconds(5)) {
        played.blocks(of: 1000).filter { $0 > 0.15 }.count > 140
      }
    }
  }

  /// A sender whose clock runs fast sends more samples than fit into the time that it says: what would add up to a
  /// growing delay is left out.
  @Test func theDelayDoesNotGrowWithClocksThatDrift() async throws {
    try await run { mixer, played, _ in
      let input = try mixer.addInput()
      try await mixer.start()
      let begin = MediaTime.now
      // 20 ms of audio every 18 ms: a fifth of a second too much in two.
      try await push(try tone(400), into: input, count: 100, step: .milliseconds(18))
      let end = MediaTime.now
      try await push(try tone(1000), into: input, count: 20)
      try await eventually("all of it", within: .seconds(5)) {
        (played.blocks(of: 1000).last ?? 1) < 0.01 && played.blocks(of: 1000).contains { $0 > 0.15 }
      }
      let first = try #require(played.blocks(of: 400).firstIndex { $0 > 0.15 })
      let last = try #require(played.blocks(of: 1000).firstIndex { $0 > 0.15 })
      let distance = Duration.milliseconds(10) * (last - first)
      #expect(distance - (end - begin) < .milliseconds(60), "\(distance) in place of \(end - begin)")
      #expect((end - begin) - distance < .milliseconds(60), "\(distance) in place of \(end - begin)")
    }
  }

  /// The text as it is shipped, with a device: OpenAL's that plays to nobody, at the pace of a clock of its own.
  @Test func theShippedTextPlaysOnADevice() async throws {
    setenv("ALSOFT_DRIVERS", "null", 1)
    let failures = Collector<PlaybackMixer.Failure>()
    let factory = PipelineFactory(folder: nil, overrides: [PlaybackMixer.sink: "openalsink"])
    let mixer = try PlaybackMixer(factory: factory, values: [:], onFailure: { failures.add($0) })
    let input = try mixer.addInput()
    try await mixer.start()
    try await push(try tone(1000), into: input, count: 50)
    #expect(input.source.queuedBuffers <= 10)
    #expect(input.source.counters.dropped == 0)
    #expect(failures.count == 0)
    await mixer.stop()
  }

  @Test func volumesAreKeptWithinTheirRange() {
    let tap = PlaybackTap()
    #expect(tap.volume == 1)
    for (given, kept) in [(0.25, 0.25), (-1, 0), (7, 1), (.infinity, 1), (-.infinity, 0)] {
      tap.volume = given
      #expect(tap.volume == kept)
    }
    tap.volume = 0.5
    tap.volume = .nan
    #expect(tap.volume == 0.5)
  }
}
