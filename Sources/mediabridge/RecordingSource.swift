import Egress
import MediaBridge

/// What `record` runs, for how long it is asked to.
protocol RecordingSource: Sendable {
  func prepare() async throws(LiveKitError)
  /// Returns when the first moment is in the output.
  func start(telling report: RecordingReport) async throws
  func finish() async throws(LiveKitError) -> OutputProgress
  func progress() async -> OutputProgress
  func add(_ destination: OutputDestination) async throws(LiveKitError)
  @discardableResult
  func remove(_ location: String) async throws(LiveKitError) -> DestinationStatus
  /// - Throws: nothing is laid out.
  func layOut(_ layout: CompositeLayout) async throws(LiveKitError)
  func pause() async throws(LiveKitError)
  func resume() async throws(LiveKitError)
  /// What the output has, once it is prepared.
  var kinds: Set<Track.Kind> { get async }
  var elapsed: Duration { get async }
  /// None before the first moment.
  var manifests: [Manifest] { get async }
  var failure: LiveKitError? { get async }
  var ending: RecordingOptions.Ending? { get async }
}

extension RecordingSource {
  var isPaused: Bool { get async { await progress().isPaused } }
}

extension Recorder: RecordingSource {
  var kinds: Set<Track.Kind> { options.kinds }
  var manifests: [Manifest] { manifest.map { [$0] } ?? [] }
  func layOut(_ layout: CompositeLayout) throws(LiveKitError) {
    throw LiveKitError(.invalidState, "one participant has no layout; --composite \(layout.rawValue) mixes the room")
  }
  func start(telling report: RecordingReport) async throws { try await start { report.tell($0) } }
}

extension RoomComposite: RecordingSource {
  var kinds: Set<Track.Kind> { options.kinds }
  var manifests: [Manifest] { manifest.map { [$0] } ?? [] }
  func layOut(_ layout: CompositeLayout) async { await set(layout: layout) }
  func start(telling report: RecordingReport) async throws { try await start { report.tell($0) } }
}

extension RecorderGroup: RecordingSource {
  var kinds: Set<Track.Kind> { [.video, .audio] }
  /// One that fails fails alone.
  var failure: LiveKitError? { nil }
  func layOut(_ layout: CompositeLayout) throws(LiveKitError) {
    throw LiveKitError(.invalidState, "files of their own have no layout; --composite mixes the room")
  }
  func add(_ destination: OutputDestination) throws(LiveKitError) { throw Self.fixed }
  func remove(_ location: String) throws(LiveKitError) -> DestinationStatus { throw Self.fixed }
  func start(telling report: RecordingReport) async throws { try await start { report.tell($0) } }

  private static var fixed: LiveKitError {
    LiveKitError(.invalidState, "with --each the files are those of the beginning")
  }
}
