import Foundation
import MediaBridge
import MediaCore

/// What has come of a track.
struct TrackCount: Sendable {
  var frames = 0
  /// When the first and the newest frame was rendered.
  var first: ContinuousClock.Instant?
  var last: ContinuousClock.Instant?
  /// Of the newest frame.
  var size: Dimensions?
  var rotation = VideoRotation._0
  /// Samples of one channel, and how long they take.
  var audioSamples = 0
  var audioSeconds = 0.0
  /// Of each frame whose code could be read: its number, the moments of capture and of rendering and its timestamp in
  /// microseconds, and its height.
  var clock: [[Int64]] = []
  var unreadable = 0

  /// Frames a second, from the first to the newest.
  var fps: Double {
    guard frames > 1, let first, let last, last > first else { return 0 }
    return Double(frames - 1) / Format.seconds(last - first)
  }
}

extension [TrackCount] {
  var frames: Int { map(\.frames).reduce(0, +) }
  var audioSamples: Int { map(\.audioSamples).reduce(0, +) }
  /// Of which the newest frame is.
  var newest: TrackCount? {
    compactMap { count in count.last.map { (count, $0) } }.max { $0.1 < $1.1 }?.0
  }
}

/// Counts frames and audio of a track. Counting takes no time, so that it is done where the media is decoded.
final class TrackCounter: VideoRenderer, AudioRenderer, PromptRenderer, Sendable {
  private let shownSize: Dimensions?
  private let readsClock: Bool
  private let state = Locked(TrackCount())

  /// - Parameter shownAt: the size in which frames are shown; nil for their own.
  init(shownAt shownSize: Dimensions?, readsClock: Bool) {
    self.shownSize = shownSize
    self.readsClock = readsClock
  }

  var count: TrackCount { state.withLock { $0 } }

  @MainActor var adaptiveStreamSize: CGSize {
    shownSize.map { CGSize(width: Int($0.width), height: Int($0.height)) } ?? .unbounded
  }

  func render(frame: VideoFrame) {
    let (now, rendered) = (ContinuousClock.now, monotonicMicroseconds())
    let code = readsClock ? ClockCode(frame) : nil
    state.withLock { count in
      if count.first == nil { count.first = now }
      count.last = now
      count.frames += 1
      count.size = frame.dimensions
      count.rotation = frame.rotation
      if readsClock { count.note(frame, code, rendered: rendered) }
    }
  }

  func render(pcmBuffer: AudioPCMBuffer) {
    let samples = Int(pcmBuffer.frameLength)
    state.withLock { count in
      count.audioSamples += samples
      count.audioSeconds += Double(samples) / pcmBuffer.format.sampleRate
    }
  }
}

/// CLOCK_MONOTONIC, as the clock code's.
func monotonicMicroseconds() -> Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1000) }

extension TrackCount {
  fileprivate mutating func note(_ frame: VideoFrame, _ code: ClockCode?, rendered: Int64) {
    guard let code else {
      unreadable += 1
      return
    }
    clock.append([
      Int64(code.number), Int64(code.microseconds), rendered, frame.timeStampNs / 1000, Int64(frame.dimensions.height),
    ])
  }
}
