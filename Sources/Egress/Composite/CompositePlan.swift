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
    let logger = Loggers(room.options.logger).pipelines
    self.init(
      options, by: PipelineFactory(folder: room.options.pipelineFolder, logger: logger), onFrame: onFrame)
  }

  /// - Parameter templates: without values.
  init(
    _ options: CompositeOptions, by templates: PipelineFactory, onFrame: (@Sendable (VideoFrame) -> Void)? = nil
  ) {
    var options = options
    if options.kinds.contains(.video) { options.takeFrameValues(where: templates.mixes(with:)) }
    (self.options, firstLayout, self.onFrame) = (options, options.layout, onFrame)
    factory = PipelineFactory(
      store: templates.store, overrides: options.values.filter { templates.mixes(with: $0.key) })
  }

  /// What is asked of the destinations.
  var recording: RecordingOptions { options.recording(options.values.filter { factory.overrides[$0.key] == nil }) }

  /// - Throws: what is wrong with it.
  func check() throws(LiveKitError) {
    try options.check()
    try checkFrameValues()
    try LiveKitError.wrapping { () throws(PipelineFailure) -> Void in
      try factory.check(options.kinds.flatMap(RoomMix.templates(of:)))
      try checkElements()
    }
  }

  /// - Throws: what is not installed that mixing these kinds takes, with the line of each element and what to install.
  func checkInstalled(_ kinds: Set<Track.Kind>) throws(LiveKitError) {
    let names = kinds.sorted { $0.rawValue < $1.rawValue }.flatMap { RoomMix.templates(of: $0, options) }
    try LiveKitError.wrapping { () throws(PipelineFailure) in
      try factory.checkElements(of: names, values: RoomMix.values(options))
    }
  }

  /// Tiles would be laid out in another frame than the one that is mixed.
  private func checkFrameValues() throws(LiveKitError) {
    guard options.kinds.contains(.video) else { return }
    for name in CompositeOptions.frameVariables {
      guard let value = factory.overrides[name] else { continue }
      throw LiveKitError(
        .invalidParameter,
        "'\(value)' is no value for `\(name)` of a composite: give a whole number, and the same one where it is an "
          + "option, too")
    }
  }

  /// Without these it would run, and what was asked for would not be in it.
  private func checkElements() throws(PipelineFailure) {
    if options.kinds.contains(.audio), options.audioMixing != .defaultMixing {
      try factory.fill(.tile, Track.Kind.audio.description, values: [:]).checkChannels()
    }
    if options.kinds.contains(.video), options.scenery.logo != nil {
      try factory.fill(.mix, Track.Kind.video.description, values: [:]).checkLogo()
    }
  }

  /// Notes that the others are taken by no destination.
  mutating func keep(_ kinds: Set<Track.Kind>) {
    idleKinds.formUnion(options.kinds.subtracting(kinds))
    options.kinds = kinds
  }

  mutating func set(_ layout: CompositeLayout) { options.layout = layout }
}
