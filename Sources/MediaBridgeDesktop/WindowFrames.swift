import GStreamerKit
import MediaBridge
import MediaCore

/// The way of frames into a place of a window. While their track is muted the place is black: a frame that stands still
/// would be taken for one that is live.
final class WindowFrames: Sendable {
  private struct State {
    var isMuted = false
    /// Of what was shown last, in pixels.
    var size: Dimensions?
  }

  private let source: AppSource
  /// Held while a frame is queued, so that none comes behind black; queueing never waits.
  private let state = Locked(State())

  init(into source: AppSource) { self.source = source }

  /// - Parameter time: when it is to be seen; nil for its own.
  func show(_ frame: VideoFrame, at time: MediaTime? = nil) {
    state.withLock { state in
      guard !state.isMuted else { return }
      state.size = frame.dimensions
      source.push(frame.buffer.media, pts: time)
    }
  }

  func setMuted(_ isMuted: Bool) {
    state.withLock { state in
      guard state.isMuted != isMuted else { return }
      state.isMuted = isMuted
      guard isMuted, let size = state.size,
        let black = MediaBuffer.blackFrame(width: Int(size.width), height: Int(size.height))
      else { return }
      // Elements that write over frames drop those without a time.
      source.push(black, pts: .now)
    }
  }
}
