import Logging
import MediaCore

/// Brings what is played into line with what is to be played. Its methods are called by one worker, one after another.
actor Player {
  /// A track and its input; nil once that has failed.
  private typealias Entry = (track: RemoteAudioTrack, input: PlaybackInput?)

  private let factory: PipelineFactory
  private let device: AudioDevice
  private let onFailure: @Sendable (PlaybackMixer.Failure) -> Void
  private var mixer: PlaybackMixer?
  private var entries: [Entry] = []
  /// There is no device, or it has failed: nothing is played until the next connection.
  private var isOff = false
  private let logger = Logger(label: "mediabridge.playback")

  init(
    factory: PipelineFactory, device: AudioDevice, onFailure: @escaping @Sendable (PlaybackMixer.Failure) -> Void
  ) {
    self.factory = factory
    self.device = device
    self.onFailure = onFailure
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
      logger.warning("a track is not played", metadata: ["track": "\(track.sid ?? "")", "reason": "\(error.message)"])
    }
  }

  private func end(_ entry: Entry) {
    guard let input = entry.input else { return }
    entry.track.play(into: nil)
    input.remove()
  }

  private func note(_ failure: PlaybackMixer.Failure) {
    switch failure {
    case .input(let name):
      guard let index = entries.firstIndex(where: { $0.input?.name == name }) else { return }
      end(entries[index])
      entries[index].input = nil
      logger.warning("a track is not played any more", metadata: ["track": "\(entries[index].track.sid ?? "")"])
    case .everything(let error, let identity):
      guard mixer?.identity === identity, !isOff else { return }
      isOff = true
      logger.warning("sound is not played any more; connect again", metadata: ["reason": "\(error.message)"])
    }
  }

  // MARK: The device

  /// Starts a mixer with a first input; nil when there is nothing to play on.
  private func open() async -> PlaybackInput? {
    do throws(LiveKitError) {
      for choice in try choices() {
        if let input = await open(choice) { return input }
      }
    } catch {
      logger.warning("sound is not played", metadata: ["reason": "\(error.message)"])
    }
    isOff = true
    logger.debug("no audio device; sound is not played")
    return nil
  }

  private struct Choice {
    var values: [String: String]
    /// Somebody has named the sink, and wants to know why it does not work.
    var isAskedFor: Bool
  }

  private func choices() throws(LiveKitError) -> [Choice] {
    let text = try factory.text(.output, PlaybackMixer.template)
    let isOpen = text.variables.contains { $0.name == PlaybackMixer.sink }
    guard isOpen, factory.overrides[PlaybackMixer.sink] == nil else { return [Choice(values: [:], isAskedFor: true)] }
    return device.sinks.map { Choice(values: [PlaybackMixer.sink: $0], isAskedFor: false) }
  }

  private func open(_ choice: Choice) async -> PlaybackInput? {
    var made: PlaybackMixer?
    do throws(LiveKitError) {
      let mixer = try PlaybackMixer(factory: factory, values: choice.values, onFailure: onFailure)
      made = mixer
      let input = try mixer.addInput()
      try await mixer.start()
      self.mixer = mixer
      return input
    } catch {
      logger.log(
        level: choice.isAskedFor ? .warning : .debug, "an audio device cannot be used",
        metadata: ["sink": "\(choice.values[PlaybackMixer.sink] ?? "")", "reason": "\(error.message)"])
      await made?.stop()
      return nil
    }
  }
}
