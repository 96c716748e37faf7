import GStreamerKit
import MediaCore
import Synchronization

/// What a track's decoder made so far. Its streaming thread writes, statistics read.
///
/// Frames are always counted, which costs two stores; all else only while somebody wants to know.
final class DecoderMeter: Sendable {
  struct Figures: Sendable {
    var framesDecoded = 0
    /// The time of the newest frame, or of the newest audio.
    var newest: MediaTime?
    var size: Dimensions?
    var freezes = FreezeDetector()
    var audio = AudioEnergy()
  }

  private let framesDecoded = Atomic(0)
  private let newest = Atomic(Int64.min)
  private let isMeasuring = Atomic(false)
  /// Without the two that are kept apart.
  private let details = Locked(Figures())

  func note(_ frame: VideoFrame) {
    framesDecoded.wrappingAdd(1, ordering: .relaxed)
    newest.store(frame.time.nanoseconds, ordering: .relaxed)
    guard isMeasuring.load(ordering: .relaxed) else { return }
    let size = frame.dimensions
    let now = MediaTime.now
    details.withLock { details in
      details.size = size
      details.freezes.show(at: now)
    }
  }

  func note(_ audio: AudioPCMBuffer) {
    newest.store(audio.time.nanoseconds, ordering: .relaxed)
    guard isMeasuring.load(ordering: .relaxed) else { return }
    let heard = AudioEnergy(audio.buffer)
    details.withLock { $0.audio.add(heard) }
  }

  func measure(_ isWanted: Bool) {
    if isWanted { interrupt() }
    isMeasuring.store(isWanted, ordering: .relaxed)
  }

  /// Nothing is meant to be shown until the next frame.
  func interrupt() { details.withLock { $0.freezes.interrupt() } }

  var newestTime: MediaTime? {
    let nanoseconds = newest.load(ordering: .relaxed)
    return nanoseconds == .min ? nil : MediaTime(nanoseconds: nanoseconds)
  }

  var figures: Figures {
    var figures = details.withLock { $0 }
    figures.framesDecoded = framesDecoded.load(ordering: .relaxed)
    figures.newest = newestTime
    return figures
  }
}

extension AudioEnergy {
  /// Samples of a format that is not known here count as none.
  init(_ buffer: AudioBuffer) {
    self.init()
    let (channels, rate) = (buffer.channelCount, buffer.sampleRate)
    if buffer.withInt16Samples({ add($0, channelCount: channels, sampleRate: rate) }) == nil {
      _ = buffer.withFloatSamples { add($0, channelCount: channels, sampleRate: rate) }
    }
  }
}
