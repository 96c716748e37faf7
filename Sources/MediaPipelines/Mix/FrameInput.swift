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
    /// What was shown last, other than what stands in.
    var newest: Newest?
    /// From when on that is seen in another way, and so is to be shown once more.
    var changes = MomentList<MediaTime>()
  }

  private struct Newest {
    let frame: VideoFrameBuffer
    let time: MediaTime
  }

  private let source: AppSource
  /// Held while a frame is queued, so that none comes behind one that stands in; queueing never waits.
  private let state = Locked(State())

  package init(into source: AppSource) { self.source = source }

  /// - Parameter time: when it is to be seen; nil for its own.
  package func show(_ frame: VideoFrameBuffer, at time: MediaTime? = nil) {
    // What was shown before is let go of outside the lock.
    _ = state.withLock { state -> Newest? in
      guard !state.isMuted else { return nil }
      let before = state.newest
      if let moment = time ?? frame.media.pts {
        repeatNewest(of: &state, until: moment)
        state.newest = Newest(frame: frame, time: moment)
      }
      state.shown = PixelSize(width: frame.width, height: frame.height)
      source.push(frame.media, pts: time)
      return before
    }
  }

  /// Whether a frame was shown, other than one that stands in.
  package var hasShown: Bool { state.withLock { $0.shown != nil } }

  /// Frames that found no time to be seen.
  package var dropped: Int { source.counters.dropped }

  /// How large the place is, which what stands in fills.
  package func fill(_ place: PixelSize) { state.withLock { $0.place = place } }

  /// From a moment on it is seen in another way. What is seen until then is shown once more, for that moment: ahead of the
  /// first frame that is as late, or by `repeatNewest(at:after:)`.
  /// - Parameters:
  ///   - place: how large the place is from now on.
  ///   - standIn: what is seen while it is muted; nil for what was.
  func change(place: PixelSize, standIn: StandIn?, at time: MediaTime) {
    state.withLock { state in
      state.place = place
      state.standIn = standIn ?? state.standIn
      if state.isMuted { pushStandIn(of: state, at: time) } else { state.changes.add(time, from: time) }
    }
  }

  /// Shows once more what is seen, for a moment of `change` for which nothing has come yet.
  /// - Parameter stillness: how long before that moment it has to have come.
  func repeatNewest(at time: MediaTime, after stillness: Duration = .zero) {
    state.withLock { state in
      guard state.newest.map({ time - $0.time >= stillness }) ?? true else { return }
      repeatNewest(of: &state, until: time)
    }
  }

  private func repeatNewest(of state: inout State, until time: MediaTime) {
    for moment in state.changes.due(at: time) {
      if let newest = state.newest { source.push(newest.frame.media, pts: moment) }
    }
  }

  /// Calls `body` while no frame is on its way to the place: at once, or on the streaming thread. Frames that come do not
  /// overtake it.
  func betweenFrames(_ body: @escaping @Sendable () -> Void) { source.whenIdle(body) }

  package func setMuted(_ isMuted: Bool) {
    _ = state.withLock { state -> Newest? in
      guard state.isMuted != isMuted else { return nil }
      state.isMuted = isMuted
      guard isMuted else { return nil }
      let before = state.newest
      state.newest = nil
      // What is still to change changes what stands in.
      for time in (state.changes.takeAll() + [.now]).sorted() { pushStandIn(of: state, at: time) }
      return before
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

  private func pushStandIn(of state: State, at time: MediaTime = .now) {
    let media: MediaBuffer? =
      switch state.standIn {
      case .black: (state.place ?? state.shown).flatMap { .blackFrame(width: $0.width, height: $0.height) }
      case .frame(let frame): frame.media
      case .awaited: nil
      }
    // Elements that write over frames drop those without a time.
    if let media { source.push(media, pts: time) }
  }
}
