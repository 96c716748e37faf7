import GStreamerKit
import MediaCore

/// Brings the frames of one track to the colours of WebRTC, once for all layers and codecs that encode them.
final class FrameColors: Sendable {
  private struct Newest {
    /// Held by whoever hands it on.
    weak var source: MediaBuffer?
    let frame: MediaBuffer
  }

  private let converter = ColorConverter()
  /// Of the newest frame, where that took memory of its own.
  private let newest = Locked<Newest?>(nil)

  /// Called on one thread at a time.
  func convert(_ captured: MediaBuffer) -> MediaBuffer {
    let known = newest.withLock { newest -> MediaBuffer? in newest?.source === captured ? newest?.frame : nil }
    if let known { return known }
    let converted = converter.convert(captured)
    // The one before is let go of outside of the lock.
    _ = newest.withLock { newest -> MediaBuffer? in
      defer { newest = converted === captured ? nil : Newest(source: captured, frame: converted) }
      return newest?.frame
    }
    return converted
  }
}
