import MediaBridge
import MediaPipelines
import PipelineTemplates

/// What an output is fed for the tracks that it gets.
struct OutputPlan: Sendable {
  let read: ReadTemplates
  /// By kind; a kind that the template has no input for is not there.
  var feeds: [Track.Kind: Feed]
  /// Of each that has a track of its own; nil where the template takes none.
  var voiceFeed: Feed?
  /// Those that have one, in the order of their tracks.
  var voices: [Voice] = []
  /// Why a track that could be stored as it is sent is encoded: the variables that were set and only its encode
  /// template has, by that template.
  var forced: [(encoder: TemplateName, variables: [String])] = []
  /// The encode templates that would go before others and lack an element, each with the one that it gives way to.
  var replaced: [(encoder: TemplateName, by: TemplateName)] = []
  /// Nil where the template writes by itself.
  var segments: SegmentOptions?
  /// Whether what is said goes into the template's input for it.
  var hasCaptions = false

  /// The name of the output template.
  var template: String { read.output.name }

  /// What each input is fed.
  var inputs: [OutputInput: Feed] {
    var inputs = feeds.reduce(into: [OutputInput: Feed]()) { $0[OutputInput($1.key)] = $1.value }
    for voice in voices { inputs[.voice(voice.number)] = voiceFeed }
    return inputs
  }
}

/// An output template and the encode templates beside it: what its inputs can be fed. It reads templates and builds no
/// pipeline.
struct OutputPlanner: Sendable {
  let template: TemplateName
  let read: ReadTemplates
  private let destination: Destination
  private let choices: [Track.Kind: InputChoice]
  /// Of each audio beside the first; nil where the template takes no other.
  private let voiceChoice: InputChoice?
  /// The variables of each template.
  private let variables: [TemplateName: Set<String>]
  /// The encode templates that were asked for and make what the output does not take.
  let idleEncoders: [Track.Kind: String]
  /// How Swift cuts what comes out; nil where the template writes by itself.
  let segments: SegmentOptions?
  /// How many bytes a file of it can have; nil for any number. The header of WAV says in 32 bits how long it is: six hours.
  let largestFile: Int64?
  /// Whether the template takes what is said, as text.
  let takesCaptions: Bool
  /// Whether it is to have that.
  var wantsCaptions = false

  static let inputs: [Track.Kind: (output: String, encoder: String)] = [
    .video: ("video", "frames"), .audio: ("audio", "pcm"),
  ]

  /// - Parameters:
  ///   - encode: the names of the encode templates that are asked for, at most one for video and one for audio.
  ///   - factory: its overrides are the values that were set.
  /// - Throws: there is no such template.
  init(_ destination: Destination, encode: [String] = [], factory: PipelineFactory) throws(LiveKitError) {
    try self.init(try OutputTemplates(destination, encode: encode, factory: factory), factory: factory)
  }

  /// - Parameter factory: its overrides are the values that were set; those that no template has are passed over.
  /// - Throws: the template cannot be filled.
  init(_ templates: OutputTemplates, factory: PipelineFactory) throws(LiveKitError) {
    let (found, encoders, destination) = (templates.output, templates.encoders, templates.destination)
    template = TemplateName(.output, found.name)
    self.destination = destination
    read = ReadTemplates(output: found, encoders: encoders.templates)
    let filled = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try factory.fill(found, values: destination.values)
    }
    segments = try SegmentOptions(found, filled, set: factory.overrides)
    try segments?.check(destination, of: TemplateName(.output, found.name))
    largestFile = filled.elements.contains { $0.factory == "wavenc" } ? 0xffff_0000 : nil
    takesCaptions = filled.caps(ofElement: CaptionInput.name) != nil
    let own = Set(found.variables.map(\.name))
    let unowned = Set(factory.overrides.keys).subtracting(own)
    let interval = segments?.keyframeInterval ?? Self.keyframeInterval(of: found, factory)
    let template = template
    func choice(_ kind: Track.Kind, _ name: String) -> InputChoice? {
      guard let accepted = filled.caps(ofElement: name) else { return nil }
      let choice = FeedChoice(
        output: template.description, accepted: accepted, encoders: [], wantedEncoder: encoders.wanted[kind],
        keyframeInterval: kind == .video ? interval : nil)
      return InputChoice(choice, encoders.traits(kind, by: factory), set: unowned)
    }
    var choices: [Track.Kind: InputChoice] = [:]
    for (kind, input) in Self.inputs { choices[kind] = choice(kind, input.output) }
    self.choices = choices
    voiceChoice = choice(.audio, RepeatedInput.name)
    var variables = [template: own]
    for encoder in choices.values.flatMap(\.everywhere.candidates) {
      variables[TemplateName(.encode, encoder.name)] = encoder.variables
    }
    self.variables = variables
    idleEncoders = encoders.wanted.filter { choices[$0.key] == nil }
  }

  /// The longest time between two keyframes that the output can do with; nil where it does not matter.
  var keyframeInterval: Duration? { choices[.video]?.here.keyframeInterval }

  /// With what is said beside them, where that is wanted.
  var captionedSegments: SegmentOptions? {
    var options = segments
    options?.hasCaptions = wantsCaptions
    return options
  }

  /// Whether a file of it may go on in another one.
  var mayHaveParts: Bool { segments?.mayHaveParts ?? true }

  /// Whether the output takes more than one audio.
  var takesVoices: Bool { voiceChoice != nil }

  /// The kinds of media that the output takes.
  var kinds: Set<Track.Kind> { Set(choices.keys) }

  /// The output's template, and those that may encode for it, also where they lack an element.
  var templates: [TemplateName] {
    [template] + variables.keys.filter { $0 != template }.sorted { $0.description < $1.description }
  }

  /// - Parameter tracks: by kind; a kind that is not there gets nothing.
  /// - Parameter voices: that have a track of their own where the output takes them.
  /// - Throws: a track can be fed in no way.
  func plan(_ tracks: [Track.Kind: TrackTraits], voices: [Voice] = []) throws(LiveKitError) -> OutputPlan {
    var plan = OutputPlan(read: read, feeds: [:], segments: segments, hasCaptions: wantsCaptions && takesCaptions)
    plan.segments = captionedSegments
    if let voiceChoice {
      plan.voices = voices
      plan.voiceFeed = try feed(voiceChoice.here, TrackTraits(codec: "opus"))
    }
    for (kind, track) in tracks.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let choice = choices[kind] else { continue }
      let feed = try feed(choice.here, track)
      plan.feeds[kind] = feed
      guard let encoder = feed.encoder.map({ TemplateName(.encode, $0) }) else { continue }
      if let other = choice.replaced(by: feed, of: track) {
        plan.replaced.append((TemplateName(.encode, other), encoder))
      }
      if choice.isForced(track) { plan.forced.append((encoder, choice.here.variables.sorted())) }
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
      try self.feed(choice.here.continuing(codec), track)
    }
    guard let encoder = feed?.encoder else {
      throw LiveKitError(.unsupportedCodec, "\(template) holds \(codec.uppercased()), which cannot be made of this")
    }
    return encoder
  }

  /// The templates that what was set may be for, where nothing but those kinds is wanted.
  func templates(for kinds: Set<Track.Kind>) -> [TemplateName] {
    let candidates = choices.filter { kinds.contains($0.key) }.values.flatMap(\.here.candidates)
    return [template] + candidates.map { TemplateName(.encode, $0.name) }
  }

  /// What can be set, where nothing but those kinds is wanted.
  func variables(for kinds: Set<Track.Kind>) -> Set<String> {
    templates(for: kinds).reduce(into: []) { $0.formUnion(variables[$1] ?? []) }
  }

  /// Finds mistakes in what was set, and elements that are not installed and certain to be needed, before a room is
  /// joined, when nothing is known of its tracks.
  /// - Parameters:
  ///   - foreseen: of which kinds something is to come.
  ///   - isMixed: whether they are made of frames and PCM here.
  func check(
    _ kinds: Set<Track.Kind>, foreseen: Set<Track.Kind>, isMixed: Bool, factory: PipelineFactory,
    values: [String: String]
  ) throws(LiveKitError) {
    var (encoders, needed) = ([String](), [String]())
    for (kind, choice) in choices where kinds.contains(kind) {
      guard let encoder = try encoder(of: choice, isMixed: isMixed) else { continue }
      encoders.append(encoder)
      if foreseen.contains(kind), choice.isAlwaysEncoded(isMixed: isMixed) { needed.append(encoder) }
    }
    let templates = [template] + encoders.sorted().map { TemplateName(.encode, $0) }
    try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.check(templates, values: values) }
    var built = [read.output]
    for name in needed.sorted() { built.append(try read.encoder(name)) }
    do throws(PipelineFailure) { try factory.checkElements(of: built, values: values) } catch {
      throw LiveKitError(error).about(destination)
    }
  }

  private func encoder(of choice: InputChoice, isMixed: Bool) throws(LiveKitError) -> String? {
    do { return try choice.encoder(isMixed: isMixed) } catch {
      throw LiveKitError(.invalidParameter, "\(error)", underlying: error)
    }
  }

  /// What an encode template lacks, with its line and what to install; nil where it can run.
  func lack(of encoder: TemplateName, factory: PipelineFactory) -> LiveKitError? {
    guard let template = read.encoders[encoder.name] else { return nil }
    do throws(PipelineFailure) {
      try factory.checkElements(of: [template], values: destination.values)
      return nil
    } catch {
      return LiveKitError(error)
    }
  }
}

extension OutputPlanner {
  /// The longest time between keyframes that the template can do with: seconds in its variable `keyframe-interval`, or
  /// what was set for all.
  private static func keyframeInterval(of template: Template, _ factory: PipelineFactory) -> Duration? {
    let variable = template.variables.first { $0.name == "keyframe-interval" }
    let seconds = (factory.overrides["keyframe-interval"] ?? variable?.defaultValue).flatMap(Double.init)
    return seconds.map { .seconds(min(max($0, 0.1), 3600)) }
  }
}
