import Foundation
import GStreamerKit

/// How loud audio is, as packets say it (RFC 6464): in decibels below full scale. Servers judge by it who speaks.
struct AudioLevel: Equatable, Sendable {
  /// 0 for the loudest there can be, 127 for silence.
  let attenuation: UInt8

  /// What is softer is no voice.
  private static let threshold: UInt8 = 60
  private static let silence: UInt8 = 127

  /// - Parameter level: from 0 to 1.
  init(_ level: Double) {
    attenuation = level > 0 ? UInt8(min(max(-20 * log10(level), 0), Double(Self.silence)).rounded()) : Self.silence
  }

  /// Of raw audio; nil for a format that is not known here.
  init?(_ media: MediaBuffer) {
    guard let level = AudioBuffer(media).flatMap({ AudioEnergy($0).level(since: AudioEnergy()) }) else { return nil }
    self.init(level)
  }

  /// What stands in a packet's header: the level, and a bit for a voice.
  var element: UInt8 { attenuation | (attenuation < Self.threshold ? 0x80 : 0) }
}
