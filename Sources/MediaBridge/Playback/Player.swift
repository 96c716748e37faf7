import Logging
import MediaCore
import MediaPipelines

/// Brings what is played into line with what is to be played. Its methods are called by one worker, one after another.
actor Player {
  /// A track and its input; nil once that has failed.
  private typealias Entry = (track: RemoteAudioTrack, input: PlaybackInput?)

  private let factory: PipelineFactory
  private let device: AudioDevice
  private let onFailure: @Sendable (PlaybackMixer.Failure) -> Void
  private let tell: @Sendable (LiveKitError, RemoteAudioTrack?) -> Void
  private var mixer: PlaybackMixer?
  private var entries: [Entry] = []
  /// There is no device, or it has failed: nothing is played until the next connection.
  private var isOff = false
  private let logger: Logger

  /// - Parameters:
  ///   - onFailure: told what is to be handed to `play` as soon as may be.
  ///   - tell: told why a track is not heard, or without one why none is.
  init(
    factory: PipelineFactory, device: AudioDevice, logger: Logger = Loggers().playback,
    onFailure: @escaping @Sendable (PlaybackMixer.Failure) -> Void,
    tell: @escaping @Sendable (LiveKitError, RemoteAudioTrack?) -> Void
  ) {
    self.factory = factory
    self.device = device
    self.logger = logger
    self.onFailure = onFailure
    self.tell = tell
  }

  func play(_ tracks: [RemoteAudioTrack], _ failures: [PlaybackMixer.Failure]) async {
    for failure in failures { note(failure) }
    for entry in entries where !tracks.contains(where: { $0 === entry.track }) { end(entry) }
    entries.removeAll { entry in !tracks.contains { $0 === entry.track } }
    guard !tracks.isEmpty, !isOff else { return await stop() }
    for track in tracks where !entries.contains(where: { $0.track === track }) { await begin(track) }
  }

  func stop() async {
    for entry in entries { end(entry) }
    entries = []
    let mixer = self.mixer
    self.mixer = nil
    await mixer?.stop()
  }

  private func begin(_ track: RemoteAudioTrack) async {
    guard !isOff else { return }
    do throws(LiveKitError) {
      let input = if let mixer { try mixer.addInput() } else { await open() }
      guard let input else { return }
      entries.append((track, input))
      track.play(into: input)
    } catch {
      entries.append((track, nil))
      fail(error, track)
    }
  }

  private func end(_ entry: Entry) {
    guard let input = entry.input else { return }
    entry.track.play(into: nil)
    input.remove()
  }

  private func note(_ failure: PlaybackMixer.Failure) {
    switch failure {
    case .input(let name, let error):
      guard let index = entries.firstIndex(where: { $0.input?.name == name }) else { return }
      end(entries[index])
      entries[index].input = nil
      fail(error, entries[index].track)
    case .everything(let error, let identity):
      guard mixer?.identity === identity, !isOff else { return }
      isOff = true
      fail(error, nil)
    }
  }

  private func fail(_ error: LiveKitError, _ track: RemoteAudioTrack?) {
    logger.warning("audio is not played", metadata: ["track": "\(track?.sid ?? "all")", "reason": "\(error.message)"])
    tell(error, track)
  }

  // MARK: The device

  /// Starts a mixer with a first input on the first device that takes it; nil when there is none.
  private func open() async -> PlaybackInput? {
    var failure: LiveKitError?
    do throws(LiveKitError) {
      for values in try choices() {
        do throws(LiveKitError) { return try await open(values) } catch { failure = failure ?? error }
      }
    } catch {
      failure = error
    }
    isOff = true
    if let failure { fail(failure, nil) } else { logger.debug("no audio device; audio is not played") }
    return nil
  }

  /// Values for the template, the best first: the sinks of the machine, unless somebody has named one.
  private func choices() throws(LiveKitError) -> [[String: String]] {
    let template = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try factory.template(.output, PlaybackMixer.template)
    }
    let isOpen = template.variables.contains { $0.name == PlaybackMixer.sink }
    guard isOpen, factory.overrides[PlaybackMixer.sink] == nil else { return [[:]] }
    return device.sinks.map { [PlaybackMixer.sink: $0] }
  }

  private func open(_ values: [String: String]) async throws(LiveKitError) -> PlaybackInput {
    let mixer = try PlaybackMixer(factory: factory, values: values, onFailure: onFailure)
    do throws(LiveKitError) {
      let input = try mixer.addInput()
      try await mixer.start()
      self.mixer = mixer
      return input
    } catch {
      await mixer.stop()
      throw error
    }
  }
}
