import MediaBridge
import MediaPipelines
import PipelineTemplates

/// What an output is fed for the tracks that it gets.
struct OutputPlan: Sendable {
  /// The name of the output template.
  var template: String
  /// By kind; a kind that the template has no input for is not there.
  var feeds: [Track.Kind: Feed]
  /// Why a track that could be stored as it is sent is encoded: the variables that were set and only its encode
  /// template has, by that template.
  var forced: [(encoder: TemplateName, variables: [String])] = []
}

/// An output template and the encode templates beside it: what its inputs can be fed. It reads templates and builds no
/// pipeline.
struct OutputPlanner: Sendable {
  let template: TemplateName
  private let choices: [Track.Kind: FeedChoice]
  /// The variables of each template.
  private let variables: [TemplateName: Set<String>]

  static let inputs: [Track.Kind: (output: String, encoder: String)] = [
    .video: ("video", "frames"), .audio: ("audio", "pcm"),
  ]

  /// - Parameters:
  ///   - encode: the names of the encode templates that are asked for, at most one for video and one for audio.
  ///   - factory: its overrides are the values that were set.
  /// - Throws: there is no such template, or what was set is for none.
  init(_ destination: Destination, encode: [String] = [], factory: PipelineFactory) throws(LiveKitError) {
    let name = try Self.templateName(of: destination, factory)
    template = TemplateName(.output, name)
    let found = try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.template(.output, name) }
    let filled = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try factory.fill(found, values: destination.values)
    }
    let own = Set(found.variables.map(\.name))
    let encoders = try Encoders(factory, wanted: encode)
    let unowned = Set(factory.overrides.keys).subtracting(own)
    let interval = Self.keyframeInterval(of: found, factory)
    var choices: [Track.Kind: FeedChoice] = [:]
    for (kind, input) in Self.inputs {
      guard let accepted = filled.caps(ofElement: input.output) else { continue }
      var choice = FeedChoice(
        output: template.description, accepted: accepted, encoders: encoders.all[kind] ?? [],
        wantedEncoder: encoders.wanted[kind], keyframeInterval: kind == .video ? interval : nil)
      choice.variables = unowned.intersection(choice.candidates.flatMap(\.variables))
      choices[kind] = choice
    }
    self.choices = choices
    var variables = [template: own]
    for encoder in choices.values.flatMap(\.candidates) {
      variables[TemplateName(.encode, encoder.name)] = encoder.variables
    }
    self.variables = variables
    try encoders.checkWanted(choices, template)
  }

  /// The longest time between two keyframes that the output can do with; nil where it does not matter.
  var keyframeInterval: Duration? { choices[.video]?.keyframeInterval }

  /// The kinds of media that the output takes.
  var kinds: Set<Track.Kind> { Set(choices.keys) }

  /// The output's template, and those that may encode for it.
  var templates: [TemplateName] {
    [template] + variables.keys.filter { $0 != template }.sorted { $0.description < $1.description }
  }

  /// - Parameter tracks: by kind; a kind that is not there gets nothing.
  /// - Throws: a track can be fed in no way.
  func plan(_ tracks: [Track.Kind: TrackTraits]) throws(LiveKitError) -> OutputPlan {
    var plan = OutputPlan(template: template.name, feeds: [:])
    for (kind, track) in tracks.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let choice = choices[kind] else { continue }
      let feed = try feed(choice, track)
      plan.feeds[kind] = feed
      guard let encoder = feed.encoder, !choice.variables.isEmpty else { continue }
      var plain = choice
      plain.variables = []
      guard try self.feed(plain, track).way == .asSent else { continue }
      plan.forced.append((TemplateName(.encode, encoder), choice.variables.sorted()))
    }
    return plan
  }

  private func feed(_ choice: FeedChoice, _ track: TrackTraits) throws(LiveKitError) -> Feed {
    do { return try choice.feed(track) } catch {
      throw LiveKitError(.invalidParameter, "\(error)", underlying: error)
    }
  }

  /// The encode template for a track that comes in another codec than the one with which the output has begun as it was
  /// sent.
  /// - Throws: no template makes that codec.
  func encoder(for track: TrackTraits, continuing codec: String) throws(LiveKitError) -> String {
    let feed = try choices[.video].map { choice throws(LiveKitError) in
      try self.feed(choice.continuing(codec), track)
    }
    guard let encoder = feed?.encoder else {
      throw LiveKitError(.unsupportedCodec, "\(template) holds \(codec.uppercased()), which cannot be made of this")
    }
    return encoder
  }

  /// Finds mistakes in what was set before a room is joined, when nothing is known of its tracks.
  func check(_ kinds: Set<Track.Kind>, factory: PipelineFactory, values: [String: String]) throws(LiveKitError) {
    let used = choices.filter { kinds.contains($0.key) }
    let candidates = used.values.flatMap(\.candidates).map { TemplateName(.encode, $0.name) }
    let known = ([template] + candidates).reduce(into: Set<String>()) { $0.formUnion(variables[$1] ?? []) }
    for name in factory.overrides.keys.sorted() where !known.contains(name) {
      throw LiveKitError(
        UnknownVariable(name: name, templates: [template] + candidates, known: known.sorted()).error)
    }
    var encoders: [String] = []
    for choice in used.values {
      if let encoder = try encoder(beforehand: choice) { encoders.append(encoder) }
    }
    try LiveKitError.wrapping { () throws(PipelineFailure) in
      try factory.check([template] + encoders.sorted().map { TemplateName(.encode, $0) }, values: values)
    }
  }

  /// The encode template for a track of which nothing is known; nil where only certain codecs can be stored.
  private func encoder(beforehand choice: FeedChoice) throws(LiveKitError) -> String? {
    do throws(LiveKitError) { return try feed(choice, TrackTraits(codec: nil)).encoder } catch {
      let isOfUse = Self.codecs.contains { (try? choice.feed(TrackTraits(codec: $0))) != nil }
      guard isOfUse else { throw error }
      return nil
    }
  }

  /// Those that are received.
  static let codecs = ["vp8", "vp9", "h264", "opus"]
}

extension OutputPlanner {
  /// - Throws: nothing says which template, or there is none of that name.
  private static func templateName(of destination: Destination, _ factory: PipelineFactory) throws(LiveKitError)
    -> String
  {
    let names = try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.names(of: .output) }.map(\.name)
    if let name = destination.template, names.contains(name) { return name }
    if let name = destination.output {
      _ = try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.template(.output, name) }
      return name
    }
    let known = names.filter { name in
      (try? factory.variables(of: TemplateName(.output, name)))?.contains("location") == true
    }
    let shown = destination.shown
    let advice =
      "NAME=\(shown) or --output NAME says which output template writes it, such as \(known.joined(separator: ", "))"
    guard destination.isFile else {
      throw LiveKitError(.invalidParameter, "'\(shown)' is an address, whose name says no kind of output; \(advice)")
    }
    let endings = known.map { "." + $0 }.joined(separator: ", ")
    throw LiveKitError(.invalidParameter, "'\(shown)': the name has to end in one of \(endings); or \(advice)")
  }

  /// The longest time between keyframes that the template can do with: seconds in its variable `keyframe-interval`.
  private static func keyframeInterval(of template: Template, _ factory: PipelineFactory) -> Duration? {
    let variable = template.variables.first { $0.name == "keyframe-interval" }
    let seconds = variable.flatMap { factory.overrides[$0.name] ?? $0.defaultValue }.flatMap(Double.init)
    return seconds.map { .seconds(min(max($0, 0.1), 3600)) }
  }
}

/// The encode templates that there are.
private struct Encoders {
  /// By what goes in.
  private(set) var all: [Track.Kind: [EncoderTraits]] = [:]
  private(set) var wanted: [Track.Kind: String] = [:]

  /// A template that is wrong is passed over, unless it is asked for; `pipelines check` says what is wrong.
  init(_ factory: PipelineFactory, wanted names: [String]) throws(LiveKitError) {
    let entries = try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.list([.encode]) }
    for entry in entries where entry.shadowedBy == nil {
      do throws(LiveKitError) { try add(entry, factory) } catch {
        if names.contains(entry.name) { throw error }
      }
    }
    for name in names {
      _ = try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.template(.encode, name) }
      for (kind, encoders) in all where encoders.contains(where: { $0.name == name }) {
        if let other = wanted[kind], other != name {
          throw LiveKitError(
            .invalidParameter, "encode/\(other) and encode/\(name) are both for \(kind): give one --encode of each")
        }
        wanted[kind] = name
      }
    }
  }

  private mutating func add(_ entry: TemplateStore.Entry, _ factory: PipelineFactory) throws(LiveKitError) {
    let template: Template
    do { template = try factory.store.read(entry) } catch {
      throw LiveKitError(.template, "\(error)", underlying: error)
    }
    // As it is: what a person sets wrongly is told of the template that is used.
    let filled = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try PipelineFactory(store: factory.store, overrides: [:]).fill(template, values: [:])
    }
    let traits = EncoderTraits(
      name: entry.name, makes: filled.caps(ofElement: "encoded") ?? CapsText("ANY"),
      variables: Set(template.variables.map(\.name)))
    for (kind, input) in OutputPlanner.inputs where filled.elements.contains(where: { $0.name == input.encoder }) {
      all[kind, default: []].append(traits)
    }
  }

  /// - Throws: an encoder was asked for whose kind the output does not take.
  func checkWanted(_ choices: [Track.Kind: FeedChoice], _ output: TemplateName) throws(LiveKitError) {
    for (kind, name) in wanted where choices[kind] == nil {
      throw LiveKitError(.invalidParameter, "encode/\(name) makes \(kind), which \(output) does not take")
    }
  }
}
