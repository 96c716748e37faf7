import Logging
import MediaCore
import MediaPipelines

/// Plays the audio of one connection's tracks. There is a pipeline as long as there is a track.
///
/// Whoever says what is to be played does not wait: devices may be slow, and one worker has to do with them.
final class Playback: Sendable {
  private struct State {
    var tracks: [RemoteAudioTrack] = []
    var failures: [PlaybackMixer.Failure] = []
  }
  private let state: Locked<State>
  private let bell: AsyncStream<Void>.Continuation
  private let worker: Task<Void, Never>

  /// - Parameter tell: told, on a thread of ours, why a track is not heard, or without one why none is.
  init(
    factory: PipelineFactory, device: AudioDevice = .ofProcess, logger: Logger = Loggers().playback,
    tell: @escaping @Sendable (LiveKitError, RemoteAudioTrack?) -> Void
  ) {
    let state = Locked(State())
    let (rings, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    (self.state, self.bell) = (state, bell)
    let player = Player(
      factory: factory, device: device, logger: logger,
      onFailure: { failure in
        state.withLock { $0.failures.append(failure) }
        bell.yield()
      }, tell: tell)
    worker = Task {
      var retry: Task<Void, Never>?
      for await _ in rings {
        retry?.cancel()
        let (tracks, failures) = state.withLock { state in
          defer { state.failures = [] }
          return (state.tracks, state.failures)
        }
        retry = await player.play(tracks, failures).map { pause in
          Task { if (try? await Task.sleep(for: pause)) != nil { bell.yield() } }
        }
      }
      retry?.cancel()
      await player.stop()
    }
  }

  deinit { bell.finish() }

  func add(_ track: RemoteAudioTrack) {
    state.withLock { $0.tracks.append(track) }
    bell.yield()
  }

  func remove(_ track: RemoteAudioTrack) {
    state.withLock { state in state.tracks.removeAll { $0 === track } }
    bell.yield()
  }

  /// When it returns nothing is played any more and the device is free.
  func close() async {
    state.withLock { $0.tracks = [] }
    bell.finish()
    await worker.value
  }
}
