package import GStreamerKit
package import MediaCore

/// The way of a track's frames to a place where people see them. While the track is muted the place is black: a frame that
/// stands still would be taken for one that is live.
package final class FrameInput: Sendable {
  private struct State {
    var isMuted = false
    /// Of what was shown last.
    var size: PixelSize?
  }

  private let source: AppSource
  /// Held while a frame is queued, so that none comes behind black; queueing never waits.
  private let state = Locked(State())

  package init(into source: AppSource) { self.source = source }

  /// - Parameter time: when it is to be seen; nil for its own.
  package func show(_ frame: VideoFrameBuffer, at time: MediaTime? = nil) {
    state.withLock { state in
      guard !state.isMuted else { return }
      state.size = PixelSize(width: frame.width, height: frame.height)
      source.push(frame.media, pts: time)
    }
  }

  /// Whether a frame was shown.
  package var hasShown: Bool { state.withLock { $0.size != nil } }

  package func setMuted(_ isMuted: Bool) {
    state.withLock { state in
      guard state.isMuted != isMuted else { return }
      state.isMuted = isMuted
      guard isMuted, let size = state.size,
        let black = MediaBuffer.blackFrame(width: size.width, height: size.height)
      else { return }
      // Elements that write over frames drop those without a time.
      source.push(black, pts: .now)
    }
  }
}
