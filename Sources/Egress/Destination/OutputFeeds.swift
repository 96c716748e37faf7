package import MediaBridge
import MediaPipelines
import PipelineTemplates

/// What an output template is fed for each codec, in words, for people.
package struct OutputFeeds: Sendable {
  package let lines: [String]

  /// - Throws: what was set for the template is wrong.
  package init(of options: RecordingOptions, _ templates: OutputTemplates, folder: String?) throws(LiveKitError) {
    let factory = PipelineFactory(folder: folder, overrides: options.values)
    let planner = try OutputPlanner(templates, factory: factory)
    let kinds = planner.kinds.intersection(options.wantedKinds)
    lines = OutputPlanner.codecs.compactMap { codec in
      let kind: Track.Kind = codec == "opus" ? .audio : .video
      guard kinds.contains(kind) else { return nil }
      return "\(codec.uppercased()) is \(Self.feed(kind, TrackTraits(codec: codec), planner))"
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
