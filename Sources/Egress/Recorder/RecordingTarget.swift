import MediaBridge
import MediaPipelines
import PipelineTemplates

/// What a recording writes, and by which templates: checked, and the file taken, before a room is joined.
struct RecordingTarget: Sendable {
  let destination: Destination
  let factory: PipelineFactory
  /// Where they are read already.
  private let templates: OutputTemplates?
  private(set) var planner: OutputPlanner?
  private(set) var claim: FileClaim?

  init(_ options: RecordingOptions, _ templates: OutputTemplates?, folder: String?, loggers: Loggers) {
    self.templates = templates
    destination = options.destination
    factory = PipelineFactory(folder: folder, overrides: options.values, logger: loggers.pipelines)
  }

  /// - Parameter options: without the kinds that the output does not take, afterwards.
  /// - Throws: what cannot be, and what to do about it.
  mutating func prepare(_ options: inout RecordingOptions) throws(LiveKitError) {
    if planner == nil {
      let planner =
        if let templates {
          try OutputPlanner(templates, factory: factory)
        } else {
          try OutputPlanner(destination, encode: options.encode, factory: factory)
        }
      try options.checkKinds(planner)
      options.kinds.formIntersection(planner.kinds)
      try options.checkValues(planner, factory)
      self.planner = planner
    }
    try claimFile()
  }

  /// Takes the file, also when it has been removed while nothing was in it. An address is nobody's.
  private mutating func claimFile() throws(LiveKitError) {
    guard destination.isFile else { return }
    if let claim, claim.loss == nil { return }
    claim?.release()
    claim = try FileClaim(destination.location)
  }

  /// The values for receive templates that change nothing of what goes in.
  func idle(_ values: [String: String], _ plan: OutputPlan, _ tracks: [Track.Kind: TrackTraits]) -> [String] {
    var idle = Set(values.keys)
    for (kind, feed) in plan.feeds where !idle.isEmpty {
      // Of what has not come yet nothing is known.
      guard let codec = tracks[kind]?.codec, let template = try? factory.template(.receive, codec) else { return [] }
      idle.subtract(template.variables(outsideBranches: feed.way == .asSent ? ["frames", "pcm"] : []))
    }
    return idle.sorted()
  }

  /// Gives the file back; one that was made here and has got nothing goes.
  func release() { claim?.release() }
}
