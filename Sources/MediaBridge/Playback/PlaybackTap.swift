import MediaCore

/// What is played of one track: how loud, and where to.
final class PlaybackTap: Sendable {
  private struct State {
    var volume = 1.0
    var input: PlaybackInput?
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
    state.withLock { $0.input = input }
    tune()
  }

  /// Called on a streaming thread. Refers to the decoder's memory, and never waits.
  func play(_ audio: AudioPCMBuffer) {
    state.withLock { $0.input }?.play(audio.buffer.media, at: audio.time)
  }

  private func tune() {
    tuning.run {
      let (volume, input) = state.withLock { ($0.volume, $0.input) }
      input?.set(volume: volume)
    }
  }
}
