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
    var options = options
    var targets = try RecordingTargets(options, templates, folder: folder)
    try targets.check(&options)
    return targets.all.map { OutputFeeds($0, options.wantedKinds) }
  }

  private init(_ target: RecordingTarget, _ wanted: Set<Track.Kind>) {
    location = target.destination.shown
    let kinds = target.planner.kinds.intersection(wanted)
    lines = OutputPlanner.codecs.compactMap { codec in
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
