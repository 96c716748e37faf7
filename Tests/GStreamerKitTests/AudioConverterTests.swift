import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import Testing

/// Audio at other rates, in other channels and samples, compared with what it should be at each moment.
@Suite struct AudioConverterTests {
  private static let start = MediaTime(nanoseconds: 7_000_000_000)

  /// Two or more tones, one a channel.
  private struct Tones {
    var rate = 48_000
    var frequencies: [Double]
    var levels: [Double]
    var format = "S16LE"

    /// What a channel is at a moment.
    func value(_ channel: Int, at time: MediaTime) -> Double {
      levels[channel] * sin(2 * .pi * frequencies[channel] * (time - AudioConverterTests.start).seconds)
    }

    /// Frames from the one of that number on, with their time.
    func buffer(from first: Int, count: Int, shift: Duration = .zero) throws -> (AudioBuffer, MediaTime) {
      let samples = (first..<(first + count)).flatMap { frame in
        frequencies.indices.map { levels[$0] * sin(2 * .pi * frequencies[$0] * Double(frame) / Double(rate)) }
      }
      let time =
        AudioConverterTests.start + .nanoseconds(first / rate * 1_000_000_000 + first % rate * 1_000_000_000 / rate)
      return (try AudioConverterTests.buffer(samples, format, rate, frequencies.count), time + shift)
    }
  }

  static func buffer(_ samples: [Double], _ format: String, _ rate: Int, _ channels: Int) throws -> AudioBuffer {
    let caps = try #require(Caps("audio/x-raw,format=\(format),layout=interleaved,rate=\(rate),channels=\(channels)"))
    func media<Sample>(_ samples: [Sample]) -> MediaBuffer {
      samples.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: start) }
    }
    switch format {
    case "S16LE": return try #require(AudioBuffer(media(samples.map { Int16(($0 * 32_767).rounded()) })))
    case "S32LE": return try #require(AudioBuffer(media(samples.map { Int32(($0 * 2_147_483_647).rounded()) })))
    default: return try #require(AudioBuffer(media(samples.map { Float($0) })))
    }
  }

  private func floats(_ buffer: AudioBuffer) throws -> [Float] {
    if let floats = buffer.withFloatSamples({ Array($0) }) { return floats }
    return try #require(buffer.withInt16Samples { $0.map { Float($0) / 32_768 } })
  }

  private static let formats: [AudioBuffer.Format] = [
    .init(sampleFormat: .f32, sampleRate: 44_100, channelCount: 2),
    .init(sampleFormat: .s16, sampleRate: 16_000, channelCount: 2),
    .init(sampleFormat: .f32, sampleRate: 96_000, channelCount: 2),
    .init(sampleFormat: .f32, sampleRate: 48_000, channelCount: 2),
    .init(sampleFormat: .s16, sampleRate: 11_025, channelCount: 2),
  ]

  /// Each sample has the value of the tone at its own time, so neither frequency, level, time nor number is off.
  @Test(arguments: formats) func everySampleIsInItsPlace(format: AudioBuffer.Format) throws {
    let tones = Tones(frequencies: [440, 1000], levels: [0.5, 0.25])
    let converter = try #require(AudioConverter(to: format))
    var frames = 0
    var worst = 0.0
    for index in 0..<250 {
      let (buffer, time) = try tones.buffer(from: index * 960, count: 960)
      let pieces = converter.convert(buffer, at: time)
      #expect(pieces.count == 1)
      for piece in pieces {
        #expect(piece.buffer.format == format)
        let expected = Self.start + .seconds(Double(frames) / Double(format.sampleRate))
        #expect(abs((piece.time - expected).nanoseconds) < 100)
        for (number, sample) in try floats(piece.buffer).enumerated() {
          // The first samples know nothing of what was before.
          guard frames > 0 || number > 400 else { continue }
          let at = piece.time + .seconds(Double(number / 2) / Double(format.sampleRate))
          worst = max(worst, abs(Double(sample) - tones.value(number % 2, at: at)))
        }
        frames += piece.buffer.frameCount
      }
    }
    // GStreamer's filter is late by an eighth to half a sample of what went in; a whole one would be 0.03.
    #expect(worst < 0.018)
    // What the filter still waits for is less than two packets.
    let missing = 5 * format.sampleRate - frames
    #expect(missing >= 0 && Double(missing) / Double(format.sampleRate) < 0.01, "\(missing)")
  }

  @Test(arguments: [(44_100, 2), (16_000, 1), (8000, 1), (48_000, 1)])
  func aJumpBringsOutWhatWasWaitingAndBeginsAnew(rate: Int, channels: Int) throws {
    let tones = Tones(frequencies: [440, 440], levels: [0.5, 0.5])
    let converter = try #require(
      AudioConverter(to: .init(sampleFormat: .f32, sampleRate: rate, channelCount: channels)))
    var frames = 0
    for index in 0..<50 {
      let (buffer, time) = try tones.buffer(from: index * 960, count: 960)
      frames += converter.convert(buffer, at: time).reduce(0) { $0 + $1.buffer.frameCount }
    }
    let (buffer, time) = try tones.buffer(from: 48_000 * 3, count: 960)
    let pieces = converter.convert(buffer, at: time)
    #expect(pieces.last?.time == time)
    for piece in pieces.dropLast() {
      let expected = Self.start + .seconds(Double(frames) / Double(rate))
      #expect(abs((piece.time - expected).nanoseconds) < 100)
      let last = try Double(#require(floats(piece.buffer).last))
      let at = piece.time + .seconds(Double(piece.buffer.frameCount - 1) / Double(rate))
      // Silence follows for the filter, so the end is only nearly right.
      #expect(abs(last - tones.value(0, at: at)) < 0.3)
      frames += piece.buffer.frameCount
    }
    #expect(frames == rate)
  }

  @Test func jitterOfTheTimesIsNoJump() throws {
    let tones = Tones(frequencies: [440], levels: [0.5])
    let converter = try #require(AudioConverter(to: .init(sampleFormat: .s16, sampleRate: 16_000, channelCount: 1)))
    var frames = 0
    for index in 0..<200 {
      let (buffer, time) = try tones.buffer(from: index * 960, count: 960, shift: .microseconds(index * 977 % 4000))
      let pieces = converter.convert(buffer, at: time)
      #expect(pieces.count == 1)
      // The times follow those that came in.
      let late = pieces[0].time - (Self.start + .seconds(Double(frames) / 16_000))
      #expect(abs((late - .microseconds(index * 977 % 4000)).nanoseconds) < 100)
      frames += pieces[0].buffer.frameCount
    }
    #expect(frames <= 64_000 && frames > 63_900)
  }

  /// The sender's clock may be fast or slow: an hour of it moves nothing.
  @Test func aDriftingClockAddsUpToNothing() throws {
    let converter = try #require(AudioConverter(to: .init(sampleFormat: .s16, sampleRate: 16_000, channelCount: 1)))
    let silence = try Self.buffer([Double](repeating: 0, count: 480), "S16LE", 48_000, 1)
    var frames = 0
    var newest: AudioConverter.Piece?
    for index in 0..<100_000 {
      // 200 ppm.
      let pieces = converter.convert(silence, at: Self.start + .nanoseconds(index * 10_002_000))
      #expect(pieces.count <= 1)
      frames += pieces.reduce(0) { $0 + $1.buffer.frameCount }
      newest = pieces.last ?? newest
    }
    #expect(frames <= 16_000_000 && frames > 15_999_900)
    let expected = Self.start + .nanoseconds(99_999 * 10_002_000)
    let lag = try #require(newest).time - expected
    #expect(abs(lag.nanoseconds) < 5_000_000, "\(lag)")
  }

  @Test func whatTheNewRateCannotCarryIsTakenOut() throws {
    let tones = Tones(frequencies: [10_000], levels: [0.5])
    let converter = try #require(AudioConverter(to: .init(sampleFormat: .f32, sampleRate: 16_000, channelCount: 1)))
    var loudest: Float = 0
    for index in 0..<50 {
      let (buffer, time) = try tones.buffer(from: index * 960, count: 960)
      for piece in converter.convert(buffer, at: time) where index > 1 {
        loudest = max(loudest, try floats(piece.buffer).map(abs).max() ?? 0)
      }
    }
    #expect(loudest < 0.001)
  }

  @Test func channelsAreMixedAndSpread() throws {
    let samples = [0.5, -0.25, 0.5, -0.25]
    let mono = try #require(AudioConverter(to: .init(sampleFormat: .f32, sampleRate: 48_000, channelCount: 1)))
    let mixed = try #require(mono.convert(Self.buffer(samples, "S16LE", 48_000, 2), at: Self.start).first).buffer
    #expect(mixed.channelCount == 1 && mixed.frameCount == 2)
    #expect(try floats(mixed).allSatisfy { abs($0 - 0.125) < 0.0001 })
    let stereo = try #require(AudioConverter(to: .init(sampleFormat: .s16, sampleRate: 48_000, channelCount: 2)))
    let spread = try #require(stereo.convert(Self.buffer([0.5, -0.25], "F32LE", 48_000, 1), at: Self.start).first)
    #expect(spread.buffer.withInt16Samples { Array($0) } == [16_384, 16_384, -8192, -8192])
    // Six channels without names are the usual ones: the middle is in both, the bass is left out.
    let six = try Self.buffer([0.5, 0, 0, 0, 0, 0], "F32LE,channel-mask=(bitmask)0", 48_000, 6)
    let down = try #require(stereo.convert(six, at: Self.start).first).buffer
    let pair = try #require(down.withInt16Samples { Array($0) })
    #expect(pair[0] > 5000 && pair[1] == 0)
  }

  @Test func audioOfTheFormatIsHandedOnAsItIs() throws {
    let buffer = try Self.buffer([0.1, 0.2, 0.3, 0.4], "S16LE", 48_000, 2)
    let converter = try #require(AudioConverter(to: buffer.format))
    let pieces = converter.convert(buffer, at: Self.start)
    #expect(pieces.count == 1 && pieces[0].buffer.media === buffer.media && pieces[0].time == Self.start)
  }

  @Test func aChangeOfTheFormatOnTheWayLosesNothing() throws {
    let converter = try #require(AudioConverter(to: .init(sampleFormat: .f32, sampleRate: 24_000, channelCount: 1)))
    var frames = 0
    for index in 0..<100 {
      let tones =
        index < 50
        ? Tones(frequencies: [440, 440], levels: [0.5, 0.5])
        : Tones(rate: 32_000, frequencies: [440], levels: [0.5], format: "F32LE")
      let (buffer, time) = try tones.buffer(from: index * tones.rate / 50, count: tones.rate / 50)
      for piece in converter.convert(buffer, at: time) {
        #expect(abs((piece.time - (Self.start + .seconds(Double(frames) / 24_000))).nanoseconds) < 100)
        frames += piece.buffer.frameCount
      }
    }
    #expect(frames <= 48_000 && frames > 47_900)
  }

  @Test(arguments: [(0, 2), (999, 2), (768_001, 2), (48_000, 0), (48_000, 9), (-1, 1)])
  func formatsThatDoNotExist(rate: Int, channels: Int) {
    #expect(AudioConverter(to: .init(sampleFormat: .f32, sampleRate: rate, channelCount: channels)) == nil)
    #expect(AudioConverter(to: .init(sampleFormat: .other("S24LE"), sampleRate: 48_000, channelCount: 2)) == nil)
  }
}

/// Samples in another form, all at once.
@Suite struct SampleConversionTests {
  /// The samples in a plane for each channel, or in one.
  private func floats(_ buffer: AudioBuffer, planes count: Int) -> [[Float]]? {
    let room = buffer.frameCount * buffer.channelCount / count
    let planes = (0..<count).map { _ in UnsafeMutablePointer<Float>.allocate(capacity: room) }
    defer { for plane in planes { plane.deallocate() } }
    guard buffer.writeFloats(to: planes) else { return nil }
    return planes.map { Array(UnsafeBufferPointer(start: $0, count: room)) }
  }

  private func int16s(_ buffer: AudioBuffer, planes count: Int) -> [[Int16]]? {
    let room = buffer.frameCount * buffer.channelCount / count
    let planes = (0..<count).map { _ in UnsafeMutablePointer<Int16>.allocate(capacity: room) }
    defer { for plane in planes { plane.deallocate() } }
    guard buffer.writeInt16s(to: planes) else { return nil }
    return planes.map { Array(UnsafeBufferPointer(start: $0, count: room)) }
  }

  @Test func samplesAreScaledAndParted() throws {
    let caps = try #require(Caps("audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2"))
    let samples: [Int16] = [-32_768, 32_767, 16_384, -1, 0, 1]
    let media = samples.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
    let buffer = try #require(AudioBuffer(media))
    let step: Float = 1 / 32_768
    let (left, right): ([Float], [Float]) = ([-1, 0.5, 0], [1 - step, -step, step])
    #expect(floats(buffer, planes: 1) == [zip(left, right).flatMap { [$0, $1] }])
    #expect(floats(buffer, planes: 2) == [left, right])
    #expect(int16s(buffer, planes: 1) == [samples])
    #expect(int16s(buffer, planes: 2) == [[-32_768, 16_384, 0], [32_767, -1, 1]])
  }

  @Test func floatsBeyondTheRangeAreTheNearest() throws {
    let buffer = try AudioConverterTests.buffer([-2, 2, 0.5, -0.25, 1, -1], "F32LE", 48_000, 2)
    #expect(int16s(buffer, planes: 1) == [[-32_768, 32_767, 16_384, -8192, 32_767, -32_768]])
    #expect(floats(buffer, planes: 2) == [[-2, 0.5, 1], [2, -0.25, -1]])
  }

  @Test(arguments: [1, 3, 6]) func otherKindsAndNumbersOfChannels(channels: Int) throws {
    let samples = (0..<(channels * 5)).map { Double($0) / 64 }
    let mask = channels > 2 ? ",channel-mask=(bitmask)0" : ""
    let caps = try #require(
      Caps("audio/x-raw,format=S32LE,layout=interleaved,rate=48000,channels=\(channels)" + mask))
    let media = samples.map { Int32($0 * 2_147_483_648) }.withUnsafeBytes {
      MediaBuffer(copying: $0, caps: caps, pts: nil)
    }
    let buffer = try #require(AudioBuffer(media))
    let planes = try #require(floats(buffer, planes: channels))
    for channel in 0..<channels {
      #expect(planes[channel] == (0..<5).map { Float(samples[$0 * channels + channel]) })
    }
  }
}
