import GStreamerKit
import MediaCore
import Testing

@testable import MediaBridge

@Suite("Audio of a program's own")
struct OpusFormatTests {
  private func captured(_ buffer: AudioPCMBuffer?) throws -> CapturedMedia {
    let buffer = try #require(buffer)
    return CapturedMedia(media: buffer.buffer.media, time: buffer.time)
  }

  @Test(arguments: [(44_100, 1, 1), (44_100, 2, 2), (48_000, 2, 2), (16_000, 1, 1), (48_000, 6, 2)])
  func floatsAreBroughtIntoWhatOpusTakes(rate: Int, channels: Int, expected: Int) throws {
    let (opus, begin) = (OpusFormat(), MediaTime(nanoseconds: 1_000_000_000))
    var frames = 0
    for index in 0..<10 {
      let buffer = AudioPCMBuffer(
        floats: [Float](repeating: 0.25, count: rate / 10 * channels), sampleRate: rate, channels: channels,
        time: begin + .milliseconds(index * 100))
      for piece in try #require(opus.convert(try captured(buffer))) {
        let audio = try #require(AudioBuffer(piece.media))
        #expect(audio.format == AudioBuffer.Format(sampleFormat: .s16, sampleRate: 48_000, channelCount: expected))
        frames += audio.frameCount
      }
    }
    // A resampler waits for what comes after.
    #expect(frames > 47_000 && frames <= 48_000)
  }

  @Test(arguments: [1, 2]) func whatOpusTakesIsLeftAsItIs(channels: Int) throws {
    let given = try captured(
      AudioPCMBuffer(int16: [Int16](repeating: 7, count: 960 * channels), sampleRate: 48_000, channels: channels))
    #expect(OpusFormat().convert(given) == nil)
  }
}
