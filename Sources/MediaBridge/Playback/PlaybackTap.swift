import MediaCore

/// What is played of one track: how loud, how late, and where to.
final class PlaybackTap: Sendable {
  private struct State {
    var volume = 1.0
    var input: PlaybackInput?
    var delay = PlaybackDelay(least: .zero)
    var quiet = QuietAudio()

    /// Where audio goes that came so late, and how much after its time; nil where nothing is played.
    mutating func place(_ lateness: Duration, peak: Float?, at now: MediaTime) -> Place? {
      guard let input else { return nil }
      let before = delay.extra
      let isQuiet = peak.map { quiet.contains(peak: $0) } ?? false
      delay.take(lateness: lateness, isQuiet: isQuiet, at: now)
      return Place(input: input, extra: delay.extra, isMoved: delay.extra != before)
    }
  }
  private struct Place: Sendable {
    let input: PlaybackInput
    let extra: Duration
    /// Whether the audio before it had another one.
    let isMoved: Bool
  }
  private let state = Locked(State())
  private let tuning = Reconciler()

  /// Kept within 0…1; what is not a number changes nothing.
  var volume: Double {
    get { state.withLock { $0.volume } }
    set {
      guard !newValue.isNaN else { return }
      state.withLock { $0.volume = min(max(newValue, 0), 1) }
      tune()
    }
  }

  /// Whether there is somewhere to play to.
  var isOpen: Bool { state.withLock { $0.input != nil } }

  /// Plays into `input` from now on; nil ends it.
  func open(_ input: PlaybackInput?) {
    // Ahead of the first audio, which would be heard at full volume.
    input?.set(volume: volume)
    state.withLock { state in
      state.input = input
      // How late it was is forgotten: what was not heard for a while may come over another network.
      state.delay = PlaybackDelay(least: input?.delay ?? .zero)
      state.quiet = QuietAudio()
    }
    tune()
  }

  /// Called on a streaming thread. Refers to the decoder's memory, and never waits.
  func play(_ audio: AudioPCMBuffer) {
    let now = MediaTime.now
    let lateness = now - audio.time
    let isMeasured = state.withLock { $0.input != nil && $0.delay.asksForLevel(lateness) }
    // Samples are not read under the lock, and only where that may change something.
    let peak = isMeasured ? audio.buffer.peak : nil
    guard let place = state.withLock({ $0.place(lateness, peak: peak, at: now) }) else { return }
    place.input.play(audio.buffer.media, at: audio.time + place.extra, isMoved: place.isMoved)
  }

  private func tune() {
    tuning.run {
      let (volume, input) = state.withLock { ($0.volume, $0.input) }
      input?.set(volume: volume)
    }
  }
}
