import MediaBridge
import MediaPipelines
import PipelineTemplates

/// What a composite was asked for.
struct CompositePlan: Sendable {
  /// From `prepare` on without the kinds that no destination takes.
  private(set) var options: CompositeOptions
  /// Those that are not mixed, since no destination took them.
  private(set) var idleKinds: Set<Track.Kind> = []
  /// With which it began.
  let firstLayout: CompositeLayout
  /// With the values that are for mixing.
  let factory: PipelineFactory
  /// Gets the mixed frames where there are no destinations.
  let onFrame: (@Sendable (VideoFrame) -> Void)?

  init(_ options: CompositeOptions, of room: Room, onFrame: (@Sendable (VideoFrame) -> Void)?) {
    (self.options, firstLayout, self.onFrame) = (options, options.layout, onFrame)
    let templates = PipelineFactory(
      folder: room.options.pipelineFolder, logger: Loggers(room.options.logger).pipelines)
    factory = PipelineFactory(
      store: templates.store, overrides: options.values.filter { templates.mixes(with: $0.key) })
  }

  /// What is asked of the destinations.
  var recording: RecordingOptions { options.recording(options.values.filter { factory.overrides[$0.key] == nil }) }

  /// - Throws: what is wrong with it.
  func check() throws(LiveKitError) {
    try options.check()
    try LiveKitError.wrapping { () throws(PipelineFailure) in
      try factory.check(options.kinds.flatMap(RoomMix.templates(of:)))
    }
  }

  /// Notes that the others are taken by no destination.
  mutating func keep(_ kinds: Set<Track.Kind>) {
    idleKinds.formUnion(options.kinds.subtracting(kinds))
    options.kinds = kinds
  }

  mutating func set(_ layout: CompositeLayout) { options.layout = layout }
}
