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
  /// What the output has, once it is prepared.
  var kinds: Set<Track.Kind> { get async }
  var elapsed: Duration { get async }
  /// Nil before the first moment.
  var manifest: Manifest? { get async }
  var failure: LiveKitError? { get async }
  var ending: RecordingOptions.Ending? { get async }
}

extension Recorder: RecordingSource {
  var kinds: Set<Track.Kind> { options.kinds }
  func layOut(_ layout: CompositeLayout) throws(LiveKitError) {
    throw LiveKitError(.invalidState, "one participant has no layout; --composite \(layout.rawValue) mixes the room")
  }
  func start(telling report: RecordingReport) async throws { try await start { report.tell($0) } }
}

extension RoomComposite: RecordingSource {
  var kinds: Set<Track.Kind> { options.kinds }
  func layOut(_ layout: CompositeLayout) async { await set(layout: layout) }
  func start(telling report: RecordingReport) async throws { try await start { report.tell($0) } }
}
