import Foundation
import MediaCore

/// Whether a microphone speaks, by the levels that its packets carry (RFC 6464), judged as a LiveKit server does with
/// its usual settings: at least two fifths of the packets of 400 ms are louder than -35 dBov.
struct SpeechDetector {
  static let interval = Duration.milliseconds(400)
  private static let threshold: UInt8 = 35
  private static let share = 0.4

  private var levels: [UInt8] = []

  /// - Parameter level: below full scale, in decibels: 0 is the loudest, 127 silence.
  mutating func note(level: UInt8) { levels.append(level) }

  /// Judges what was noted since the last call.
  /// - Returns: how loud, from 0 to 1; 0 for silence.
  mutating func judge() -> Float {
    let loud = levels.filter { $0 <= Self.threshold }
    let isSpeaking = !levels.isEmpty && Double(loud.count) >= Self.share * Double(levels.count)
    defer { levels.removeAll(keepingCapacity: true) }
    guard isSpeaking else { return 0 }
    let mean = Float(loud.reduce(0) { $0 + Int($1) }) / Float(loud.count)
    return pow(10, -mean / 20)
  }
}

/// When the level of a participant is told: once in each interval while it speaks, and once when it ends.
struct SpeechNews {
  private(set) var isSpeaking = false
  private var next: MediaTime

  init(at time: MediaTime) { next = time + SpeechDetector.interval }

  mutating func isDue(at time: MediaTime) -> Bool {
    guard time >= next else { return false }
    next = time + SpeechDetector.interval
    return true
  }

  /// - Parameter level: 0 for silence.
  mutating func isNews(_ level: Float) -> Bool {
    defer { isSpeaking = level > 0 }
    return level > 0 || isSpeaking
  }
}
