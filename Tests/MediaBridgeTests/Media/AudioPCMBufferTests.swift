import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import Testing

@testable import MediaBridge

/// Audio as renderers see it.
@Suite struct AudioPCMBufferTests {
  private static let time = MediaTime(nanoseconds: 5_000_000_000)

  static func buffer(_ samples: [Int16], channels: Int = 2, format: AudioFormat? = nil) throws -> AudioPCMBuffer {
    let caps = try #require(Caps("audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=\(channels)"))
    let media = samples.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: time) }
    return AudioPCMBuffer(buffer: try #require(AudioBuffer(media)), time: time, format: format)
  }

  @Test func whatADecoderMakesIsThereAsFloats() throws {
    let buffer = try Self.buffer([16_384, -8192, 0, 32_767, -32_768, 1])
    #expect(buffer.format == AudioFormat(standardFormatWithSampleRate: 48_000, channels: 2))
    #expect(!buffer.format.isInterleaved && buffer.format.commonFormat == .pcmFormatFloat32)
    #expect(buffer.frameLength == 3 && buffer.frameCapacity == 3 && buffer.stride == 1)
    let floats = try #require(buffer.floatChannelData)
    let left = Array(UnsafeBufferPointer(start: floats[0], count: 3))
    let right = Array(UnsafeBufferPointer(start: floats[1], count: 3))
    #expect(left == [0.5, 0, -1])
    #expect(right[0] == -0.25 && right[2] == 1 / 32_768)
    let integers = try #require(buffer.int16ChannelData)
    #expect(Array(UnsafeBufferPointer(start: integers[1], count: 3)) == [-8192, 32_767, 1])
    // The decoder's own samples are as they were.
    #expect(buffer.buffer.withInt16Samples { Array($0) } == [16_384, -8192, 0, 32_767, -32_768, 1])
  }

  @Test func interleavedPointersLeadIntoOneBlock() throws {
    let format = AudioFormat(commonFormat: .pcmFormatInt16, sampleRate: 48_000, channels: 2, interleaved: true)
    let buffer = try Self.buffer([1, 2, 3, 4, 5, 6], format: format)
    #expect(buffer.stride == 2)
    let integers = try #require(buffer.int16ChannelData)
    #expect(integers[1] == integers[0] + 1)
    #expect(Array(UnsafeBufferPointer(start: integers[0], count: 6)) == [1, 2, 3, 4, 5, 6])
    let floats = try #require(buffer.floatChannelData)
    #expect((0..<3).map { floats[1][$0 * buffer.stride] * 32_768 } == [2, 4, 6])
  }

  @Test func everyoneGetsTheSamePointersAsLongAsTheBufferLives() async throws {
    let buffer = try Self.buffer((0..<1920).map { Int16($0) })
    let addresses = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<16 { group.addTask { buffer.floatChannelData.map { Int(bitPattern: $0[1]) } ?? 0 } }
      return await group.reduce(into: Set<Int>()) { $0.insert($1) }
    }
    #expect(addresses.count == 1 && !addresses.contains(0))
    // The media may go on to other buffers: the samples stay.
    let floats = try #require(buffer.floatChannelData)
    for _ in 0..<100 { _ = try Self.buffer([Int16](repeating: -1, count: 1920)).floatChannelData }
    #expect((0..<960).allSatisfy { floats[0][$0] == Float($0 * 2) / 32_768 })
    withExtendedLifetime(buffer) {}
  }

  @Test func formatsThatDoNotExist() {
    for rate in [0, -1, 999, 768_001, .nan, .infinity, 44_100.5] {
      #expect(AudioFormat(commonFormat: .pcmFormatInt16, sampleRate: rate, channels: 1, interleaved: true) == nil)
    }
    for channels in [0, 9, UInt32.max] {
      #expect(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: channels) == nil)
    }
  }

  @Test func eachRendererGetsWhatItRequires() throws {
    let mono = AudioFormat(commonFormat: .pcmFormatInt16, sampleRate: 16_000, channels: 1, interleaved: true)
    let plain = Ear(nil)
    let ears = [plain, Ear(mono), Ear(mono), Ear(AudioFormat(standardFormatWithSampleRate: 44_100, channels: 2))]
    let calls = ears.map { RemoteAudioTrack.calls($0).render }
    var last: AudioPCMBuffer?
    for index in 0..<50 {
      let samples = (0..<960).flatMap { frame -> [Int16] in
        let value = Int16(16_384 * sin(2 * .pi * 440 * Double(index * 960 + frame) / 48_000))
        return [value, value]
      }
      let part = try Self.buffer(samples).buffer
      let buffer = AudioPCMBuffer(buffer: part, time: Self.time + .milliseconds(20 * index))
      for call in calls { call(buffer) }
      last = buffer
    }
    #expect(plain.heard.count == 50 && plain.heard.last === last)
    for (ear, format) in zip(ears.dropFirst(), [mono, mono, ears[3].requiredFormat]) {
      let heard = ear.heard
      let format = try #require(format)
      #expect(heard.allSatisfy { $0.format == format })
      let frames = heard.reduce(0) { $0 + Int($1.frameLength) }
      #expect(frames <= Int(format.sampleRate) && Double(frames) > format.sampleRate * 0.995)
      #expect(heard.first?.time == Self.time)
      for buffer in heard { #expect(buffer.int16ChannelData != nil && buffer.floatChannelData != nil) }
      let square = heard.reduce(0.0) { sum, buffer in
        sum + (0..<Int(buffer.frameLength)).reduce(0) { $0 + pow(Double(buffer.floatChannelData?[0][$1] ?? 0), 2) }
      }
      // A tone of half the full level.
      #expect(abs(sqrt(square / Double(frames)) - 0.5 / 2.0.squareRoot()) < 0.005)
    }
  }
}

private final class Ear: AudioRenderer {
  let requiredFormat: AudioFormat?
  private let buffers = Collector<AudioPCMBuffer>()
  var heard: [AudioPCMBuffer] { buffers.values }
  init(_ format: AudioFormat?) { requiredFormat = format }
  func render(pcmBuffer: AudioPCMBuffer) { buffers.add(pcmBuffer) }
}
