import GStreamerKit
import MediaCore
import MediaPipelines

/// What goes on from session to session: playing, measuring, publishing, and asking renderers. Its session's only.
final class SessionServices {
  private let room: Room
  private let options: RoomOptions
  let loggers: Loggers
  let factory: PipelineFactory
  private let playbackFactory: PipelineFactory
  private(set) var statistics: StatisticsReporter?
  /// Nil when nothing is to be played.
  private(set) var playback: Playback?
  /// Nil without adaptive stream.
  private(set) var demands: DemandWatcher?
  /// What this process publishes.
  var local = LocalTracks()
  /// Measures how tracks arrive, where audio fallback is on.
  var congestion: Task<Void, Never>?

  init(room: Room, options: RoomOptions, loggers: Loggers) {
    (self.room, self.options, self.loggers) = (room, options, loggers)
    factory = PipelineFactory(
      folder: options.pipelineFolder, overrides: options.receiveValues, logger: loggers.pipelines)
    playbackFactory = PipelineFactory(
      folder: options.pipelineFolder, overrides: options.playbackValues, logger: loggers.pipelines)
  }

  /// - Throws: why nothing could be received or played.
  func check() throws(LiveKitError) {
    do { try GStreamer.initialize() } catch {
      throw LiveKitError(.pipeline, "GStreamer cannot start: \(error)", underlying: error)
    }
    try LiveKitError.wrapping { () throws(PipelineFailure) in try check(factory, playbackFactory) }
  }

  private func check(_ receive: PipelineFactory, _ play: PipelineFactory) throws(PipelineFailure) {
    try receive.check(try receive.names(of: .receive))
    if options.audioPlayback == .automatic { try play.check([TemplateName(.output, PlaybackMixer.template)]) }
  }

  /// Begins what has not begun.
  func begin(
    roundTrip: @escaping @Sendable () async -> Duration?,
    playbackFailed: @escaping @Sendable (LiveKitError, RemoteAudioTrack?) -> Void,
    demandsRead: @escaping @Sendable ([Track]) async -> Void
  ) {
    guard statistics == nil else { return }
    if options.audioPlayback == .automatic {
      playback = Playback(factory: playbackFactory, logger: loggers.playback, tell: playbackFailed)
    }
    statistics = StatisticsReporter(roundTrip: roundTrip, tell: { [weak room] in room?.tell($0) })
    if options.adaptiveStream { demands = DemandWatcher(room: room, tell: demandsRead) }
  }

  /// Returns when nothing is measured or played any more.
  nonisolated(nonsending) func stop() async {
    demands?.stop()
    congestion?.cancel()
    await statistics?.stop()
    await playback?.close()
    playback = nil
  }
}
