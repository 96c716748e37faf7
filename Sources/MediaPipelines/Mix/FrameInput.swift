package import GStreamerKit
package import MediaCore

/// The way of a track's frames to a place where people see them. While the track is muted something stands in for them: a
/// frame that stands still would be taken for one that is live.
package final class FrameInput: Sendable {
  /// What is seen while the track is muted.
  package enum StandIn: Sendable {
    case black
    case frame(VideoFrameBuffer)
    /// A frame that is still being made; until it is there the last one stays.
    case awaited
  }

  private struct State {
    var isMuted = false
    /// Of what was shown last.
    var shown: PixelSize?
    /// Of the place.
    var place: PixelSize?
    var standIn = StandIn.black
  }

  private let source: AppSource
  /// Held while a frame is queued, so that none comes behind one that stands in; queueing never waits.
  private let state = Locked(State())

  package init(into source: AppSource) { self.source = source }

  /// - Parameter time: when it is to be seen; nil for its own.
  package func show(_ frame: VideoFrameBuffer, at time: MediaTime? = nil) {
    state.withLock { state in
      guard !state.isMuted else { return }
      state.shown = PixelSize(width: frame.width, height: frame.height)
      source.push(frame.media, pts: time)
    }
  }

  /// Whether a frame was shown, other than one that stands in.
  package var hasShown: Bool { state.withLock { $0.shown != nil } }

  /// Frames that found no time to be seen.
  package var dropped: Int { source.counters.dropped }

  /// How large the place is, which what stands in fills.
  package func fill(_ place: PixelSize) { state.withLock { $0.place = place } }

  /// Calls `body` while no frame is on its way to the place: at once, or on the streaming thread. Frames that come do not
  /// overtake it.
  func betweenFrames(_ body: @escaping @Sendable () -> Void) { source.whenIdle(body) }

  package func setMuted(_ isMuted: Bool) {
    state.withLock { state in
      guard state.isMuted != isMuted else { return }
      state.isMuted = isMuted
      if isMuted { pushStandIn(of: state) }
    }
  }

  package func setStandIn(_ standIn: StandIn) {
    state.withLock { state in
      state.standIn = standIn
      if state.isMuted { pushStandIn(of: state) }
    }
  }

  /// Shows what stands in once more: what is written over frames has changed.
  package func renewStandIn() {
    state.withLock { state in
      if state.isMuted { pushStandIn(of: state) }
    }
  }

  private func pushStandIn(of state: State) {
    let media: MediaBuffer? =
      switch state.standIn {
      case .black: (state.place ?? state.shown).flatMap { .blackFrame(width: $0.width, height: $0.height) }
      case .frame(let frame): frame.media
      case .awaited: nil
      }
    // Elements that write over frames drop those without a time.
    if let media { source.push(media, pts: .now) }
  }
}
