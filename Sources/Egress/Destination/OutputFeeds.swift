package import MediaBridge
import MediaPipelines
import PipelineTemplates

/// What an output template is fed for each codec, in words, for people.
package struct OutputFeeds: Sendable {
  /// Of the destination: a file's path, or an address without what may be a secret in it.
  package let location: String
  package let lines: [String]
  /// What it takes of what is wanted.
  private let kinds: Set<Track.Kind>
  /// With their values, as far as these are known before anything is received.
  package private(set) var pipelines: [Filled]

  /// What GStreamer is given of a template.
  package struct Filled: Sendable {
    /// Such as `output/mp4`.
    package let name: String
    /// Without what may be a secret in an address.
    package let text: String

    /// - Parameter values: what is derived, without what may be a secret: a filled text has that in other letters.
    init?(_ name: TemplateName, _ factory: PipelineFactory, _ values: [String: String]) {
      guard let filled = try? factory.fill(name.kind, name.name, values: values) else { return nil }
      self.name = name.description
      // Of placeholders, and of what is hidden: gst-launch never reads them.
      text = filled.description.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        .replacing("\\{", with: "{").replacing("\\}", with: "}")
    }
  }

  /// - Parameter templates: of each destination.
  /// - Returns: of each destination.
  /// - Throws: what is asked for or set is wrong.
  package static func of(
    _ options: RecordingOptions, _ templates: [OutputTemplates], folder: String?
  ) throws(LiveKitError) -> [OutputFeeds] {
    try of(options, templates, folder: folder, codecs: InputChoice.codecs, Job.Video())
  }

  /// Of what is mixed, which comes in no codec.
  /// - Returns: of each destination.
  /// - Throws: what is asked for or set is wrong.
  package static func of(_ options: CompositeOptions, folder: String?) throws(LiveKitError) -> [OutputFeeds] {
    let plan = CompositePlan(options, by: PipelineFactory(folder: folder))
    let mixers = try mixing(plan)
    var feeds = try of(plan.recording, nil, folder: folder, codecs: nil, Job.Video(mixed: plan.options))
    try plan.checkInstalled(plan.options.kinds.intersection(feeds.flatMap(\.kinds)))
    for index in feeds.indices { feeds[index].pipelines = mixers + feeds[index].pipelines }
    return feeds
  }

  /// What mixes a room.
  /// - Throws: what is asked for or set is wrong.
  package static func mixing(_ options: CompositeOptions, folder: String?) throws(LiveKitError) -> [Filled] {
    let plan = CompositePlan(options, by: PipelineFactory(folder: folder))
    let mixers = try mixing(plan)
    try plan.checkInstalled(plan.options.kinds)
    return mixers
  }

  private static func mixing(_ plan: CompositePlan) throws(LiveKitError) -> [Filled] {
    try plan.check()
    let templates = plan.options.kinds.sorted { $0.rawValue < $1.rawValue }.flatMap(RoomMix.templates(of:))
    return templates.compactMap { Filled($0, plan.factory, $0.kind == .mix ? RoomMix.values(plan.options) : [:]) }
  }

  /// - Parameters:
  ///   - codecs: nil for what is mixed.
  ///   - video: what is known of it before anything comes.
  private static func of(
    _ options: RecordingOptions, _ templates: [OutputTemplates]?, folder: String?, codecs: [String]?,
    _ video: Job.Video
  ) throws(LiveKitError) -> [OutputFeeds] {
    var options = options
    try options.checkChoice()
    var targets = try RecordingTargets(options, templates, isMixed: codecs == nil, folder: folder)
    try targets.check(&options)
    return targets.all.map { OutputFeeds($0, options.wantedKinds, codecs, video) }
  }

  private init(_ target: RecordingTarget, _ wanted: Set<Track.Kind>, _ codecs: [String]?, _ video: Job.Video) {
    location = target.destination.shown
    kinds = target.planner.kinds.intersection(wanted)
    let mixed = TrackTraits(codec: nil, isMixed: true)
    var tracks = [Track.Kind.video, .audio].map { (name: "mixed \($0)", kind: $0, traits: mixed) }
    if let codecs {
      tracks = codecs.map { ($0.uppercased(), $0 == "opus" ? .audio : .video, TrackTraits(codec: $0)) }
    }
    var (lines, plans) = ([String](), [OutputPlan]())
    for track in tracks where kinds.contains(track.kind) {
      do throws(LiveKitError) {
        let plan = try target.planner.plan([track.kind: track.traits])
        lines.append("\(track.name) is \(plan.feeds[track.kind]?.description ?? "left out")")
        plans.append(plan)
      } catch {
        lines.append("\(track.name) is not taken: \(error.message)")
      }
    }
    let encoders = Set(plans.flatMap(\.feeds.values).compactMap(\.encoder)).sorted().map { TemplateName(.encode, $0) }
    self.lines = lines + Self.lacks(encoders, plans, target)
    let values = target.destination.values.merging(["location": target.destination.shown]) { $1 }
    let templates = encoders + [target.planner.template]
    pipelines = templates.compactMap { name -> Filled? in
      let encoder = name.kind == .encode ? target.planner.read.encoders[name.name] : nil
      let derived = encoder.map { video.values(for: $0, besides: target.factory.overrides) } ?? [:]
      return Filled(name, target.factory, values.merging(derived) { $1 })
    }
  }

  /// What is not installed: what needs it fails only once it comes, or goes through another template.
  private static func lacks(
    _ encoders: [TemplateName], _ plans: [OutputPlan], _ target: RecordingTarget
  ) -> [String] {
    func lack(_ encoder: TemplateName) -> String? { target.planner.lack(of: encoder, factory: target.factory)?.message }
    var lines = encoders.compactMap { encoder in lack(encoder).map { "\(encoder) cannot run: \($0)" } }
    for (template, other) in plans.flatMap(\.replaced) {
      let line = "\(template) gives way to \(other)\(lack(template).map { ": \($0)" } ?? "")"
      if !lines.contains(line) { lines.append(line) }
    }
    return lines
  }
}
