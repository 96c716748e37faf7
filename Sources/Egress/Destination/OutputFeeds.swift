package import MediaBridge
import MediaPipelines
import PipelineTemplates

/// What an output template is fed for each codec, in words, for people.
package struct OutputFeeds: Sendable {
  /// Of the destination: a file's path, or an address without what may be a secret in it.
  package let location: String
  package let lines: [String]

  /// - Parameter templates: of each destination.
  /// - Returns: of each destination.
  /// - Throws: what is asked for or set is wrong.
  package static func of(
    _ options: RecordingOptions, _ templates: [OutputTemplates], folder: String?
  ) throws(LiveKitError) -> [OutputFeeds] {
    try of(options, templates, folder: folder, codecs: OutputPlanner.codecs)
  }

  /// Of what is mixed, which comes in no codec.
  /// - Returns: of each destination.
  /// - Throws: what is asked for or set is wrong.
  package static func of(_ options: CompositeOptions, folder: String?) throws(LiveKitError) -> [OutputFeeds] {
    try options.check()
    let factory = PipelineFactory(folder: folder)
    let mixing = options.values.filter { factory.mixes(with: $0.key) }
    try LiveKitError.wrapping { () throws(PipelineFailure) in
      try PipelineFactory(store: factory.store, overrides: mixing).check(options.kinds.flatMap(RoomMix.templates(of:)))
    }
    return try of(options.recording(options.values.filter { mixing[$0.key] == nil }), nil, folder: folder, codecs: nil)
  }

  /// - Parameter codecs: nil for what is mixed.
  private static func of(
    _ options: RecordingOptions, _ templates: [OutputTemplates]?, folder: String?, codecs: [String]?
  ) throws(LiveKitError) -> [OutputFeeds] {
    var options = options
    try options.checkChoice()
    var targets = try RecordingTargets(options, templates, folder: folder)
    try targets.check(&options)
    return targets.all.map { OutputFeeds($0, options.wantedKinds, codecs) }
  }

  private init(_ target: RecordingTarget, _ wanted: Set<Track.Kind>, _ codecs: [String]?) {
    location = target.destination.shown
    let kinds = target.planner.kinds.intersection(wanted)
    guard let codecs else {
      lines = [Track.Kind.video, .audio].filter(kinds.contains).map { kind in
        "mixed \(kind) is \(Self.feed(kind, TrackTraits(codec: nil), target.planner))"
      }
      return
    }
    lines = codecs.compactMap { codec in
      let kind: Track.Kind = codec == "opus" ? .audio : .video
      guard kinds.contains(kind) else { return nil }
      return "\(codec.uppercased()) is \(Self.feed(kind, TrackTraits(codec: codec), target.planner))"
    }
  }

  private static func feed(_ kind: Track.Kind, _ track: TrackTraits, _ planner: OutputPlanner) -> String {
    do throws(LiveKitError) {
      return try planner.plan([kind: track]).feeds[kind].map(\.description) ?? "left out"
    } catch {
      return "not taken: \(error.message)"
    }
  }
}
