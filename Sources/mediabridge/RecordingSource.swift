import Egress
import MediaBridge

/// What `record` runs, for how long it is asked to.
protocol RecordingSource: Sendable {
  func prepare() async throws(LiveKitError)
  /// Returns when the first moment is in the output.
  func start(telling report: RecordingReport) async throws
  func finish() async throws(LiveKitError) -> OutputProgress
  func progress() async -> OutputProgress
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
  func start(telling report: RecordingReport) async throws { try await start { report.tell($0) } }
}

extension RoomComposite: RecordingSource {
  var kinds: Set<Track.Kind> { options.kinds }
  func start(telling report: RecordingReport) async throws { try await start { report.tell($0) } }
}
