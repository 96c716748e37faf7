import Foundation
import Testing

@testable import MediaBridge

@Suite struct AudioEnergyTests {
  private func energy(_ samples: [Int16], channels: Int = 1, rate: Int = 8000) -> AudioEnergy {
    var energy = AudioEnergy()
    samples.withUnsafeBufferPointer { energy.add($0, channelCount: channels, sampleRate: rate) }
    return energy
  }

  @Test func aSquareWaveHasItsHeightForALevel() throws {
    let half = energy([16384, -16384, 16384, -16384])
    #expect(half.total == 0.25 * 4 / 8000 && half.duration == 4.0 / 8000 && half.sampleCount == 4)
    #expect(half.level(since: AudioEnergy()) == 0.5)
    #expect(energy([-32768, -32768]).level(since: AudioEnergy()) == 1)
    #expect(energy([0, 0]).level(since: AudioEnergy()) == 0)
  }

  @Test func aSineHasTheRootOfItsMeanSquare() throws {
    let samples = (0..<48_000).map { Int16(0.3 * 32768 * sin(2 * Double.pi * 440 * Double($0) / 48_000)) }
    let level = try #require(energy(samples, rate: 48_000).level(since: AudioEnergy()))
    #expect(abs(level - 0.3 / 2.0.squareRoot()) < 1e-4)
  }

  @Test func theLouderChannelCounts() {
    let stereo = energy([16384, 0, 0, -16384], channels: 2)
    #expect(stereo.level(since: AudioEnergy()) == 0.5 && stereo.sampleCount == 2)
  }

  @Test func floatsAreTheSame() {
    var floats = AudioEnergy()
    [Float(0.5), -0.5].withUnsafeBufferPointer { floats.add($0, channelCount: 1, sampleRate: 8000) }
    #expect(floats == energy([16384, -16384]))
  }

  @Test func theLevelIsOfWhatCameSince() {
    let loud = energy([32767, -32768])
    var both = loud
    both.add(energy([8192, -8192]))
    #expect(abs((both.level(since: loud) ?? 0) - 0.25) < 1e-9)
    #expect(both.level(since: both) == nil)
  }

  @Test func withoutChannelsOrRateThereIsNone() {
    #expect(energy([1, 2], channels: 0) == AudioEnergy() && energy([1, 2], rate: 0) == AudioEnergy())
  }
}
