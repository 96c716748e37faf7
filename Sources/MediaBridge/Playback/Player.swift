import Logging
import MediaCore
import MediaPipelines

/// Brings what is played into line with what is to be played. Its methods are called by one worker, one after another.
actor Player {
  /// A track, and where it is played.
  private struct Entry {
    let track: RemoteAudioTrack
    /// Nil before it is made, and once it has failed.
    var input: PlaybackInput?
    var outage = Outage()
  }

  /// How long what has failed is left alone.
  private struct Outage {
    private var pause = RetryPause()
    /// When it is tried again; nil where nothing is wrong.
    private(set) var end: MediaTime?
    /// Whether somebody was told that it does not work.
    var isTold = false

    mutating func begin(at now: MediaTime) { end = now + pause.next(at: now) }

    mutating func retry() { end = nil }
  }

  private let factory: PipelineFactory
  private let device: AudioDevice
  private let onFailure: @Sendable (PlaybackMixer.Failure) -> Void
  private let tell: @Sendable (LiveKitError, RemoteAudioTrack?) -> Void
  private var mixer: PlaybackMixer?
  private var entries: [Entry] = []
  /// Of the device: there is none, or it has failed.
  private var outage = Outage()
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

  /// - Returns: how long to wait with the next call, where something has failed that is tried again then.
  @discardableResult
  func play(
    _ tracks: [RemoteAudioTrack], _ failures: [PlaybackMixer.Failure], at now: MediaTime = .now
  ) async -> Duration? {
    for failure in failures { note(failure, at: now) }
    for entry in entries where !tracks.contains(where: { $0 === entry.track }) { end(entry) }
    entries.removeAll { entry in !tracks.contains { $0 === entry.track } }
    if tracks.isEmpty || outage.end != nil { await stop() }
    guard !tracks.isEmpty else { return nil }
    if let end = outage.end, end > now { return end - now }
    outage.retry()
    for track in tracks where !entries.contains(where: { $0.track === track }) { entries.append(Entry(track: track)) }
    for index in entries.indices where entries[index].input == nil && outage.end == nil {
      await begin(index, at: now)
    }
    let next = outage.end ?? entries.compactMap(\.outage.end).min()
    return next.map { $0 - now }
  }

  func stop() async {
    for entry in entries { end(entry) }
    entries = []
    let mixer = self.mixer
    self.mixer = nil
    await mixer?.stop()
  }

  /// Makes the input of a track, unless it has failed a short time ago.
  private func begin(_ index: Int, at now: MediaTime) async {
    if let end = entries[index].outage.end, end > now { return }
    entries[index].outage.retry()
    do throws(LiveKitError) {
      let input = if let mixer { try mixer.addInput() } else { await open(at: now) }
      guard let input else { return }
      entries[index].input = input
      entries[index].track.play(into: input)
    } catch {
      fail(error, index, at: now)
    }
  }

  private func end(_ entry: Entry) {
    guard let input = entry.input else { return }
    entry.track.play(into: nil)
    input.remove()
  }

  private func note(_ failure: PlaybackMixer.Failure, at now: MediaTime) {
    switch failure {
    case .input(let name, let error):
      guard let index = entries.firstIndex(where: { $0.input?.name == name }) else { return }
      end(entries[index])
      entries[index].input = nil
      fail(error, index, at: now)
    case .everything(let error, let identity):
      guard mixer?.identity === identity, outage.end == nil else { return }
      fail(error, at: now)
    }
  }

  /// Of one track.
  private func fail(_ error: LiveKitError, _ index: Int, at now: MediaTime) {
    entries[index].outage.begin(at: now)
    report(error, entries[index].track, &entries[index].outage)
  }

  /// Of all.
  private func fail(_ error: LiveKitError, at now: MediaTime) {
    outage.begin(at: now)
    report(error, nil, &outage)
  }

  /// Once, however often it is tried again.
  private func report(_ error: LiveKitError, _ track: RemoteAudioTrack?, _ outage: inout Outage) {
    guard !outage.isTold else { return }
    outage.isTold = true
    logger.warning(
      "audio is not played; it is tried again",
      metadata: ["track": "\(track?.sid ?? "all")", "reason": "\(error.message)"])
    tell(error, track)
  }

  // MARK: The device

  /// Starts a mixer with a first input on the first device that takes it; nil when there is none.
  private func open(at now: MediaTime) async -> PlaybackInput? {
    var failure: LiveKitError?
    do throws(LiveKitError) {
      for values in try choices() {
        do throws(LiveKitError) { return try await open(values) } catch { failure = failure ?? error }
      }
    } catch {
      failure = error
    }
    if let failure {
      fail(failure, at: now)
    } else {
      outage.begin(at: now)
      logger.debug("no audio device; audio is not played")
    }
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
      outage.isTold = false
      return input
    } catch {
      await mixer.stop()
      throw error
    }
  }
}
