package import MediaBridge
package import MediaPipelines
import PipelineTemplates

/// The templates that may write a destination, each read once: the output's, and those that may encode for it.
package struct OutputTemplates: Sendable {
  let destination: Destination
  let output: Template
  let encoders: Encoders
  private let store: TemplateStore

  /// - Parameter encode: the names of the encode templates that are asked for.
  /// - Throws: `invalidParameter` where nothing says which output template, `template` where there is none of its name.
  package init(
    of destination: OutputDestination, encode: [String] = [], folder: String?
  ) throws(LiveKitError) {
    try self.init(destination.destination, encode: encode, factory: PipelineFactory(folder: folder))
  }

  /// - Parameter encode: the names of the encode templates that are asked for.
  init(_ destination: Destination, encode: [String], factory: PipelineFactory) throws(LiveKitError) {
    self.destination = destination
    let name = try Self.name(of: destination, factory)
    output = try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.template(.output, name) }
    encoders = try Encoders(factory, wanted: encode)
    store = factory.store
  }

  /// Those that values are for, the output's first.
  /// - Throws: what was set is for none of them.
  package func names(with values: [String: String]) throws(LiveKitError) -> [TemplateName] {
    try OutputPlanner(self, factory: PipelineFactory(store: store, overrides: values)).templates
  }

  /// The kinds of media that the output takes.
  /// - Throws: its template cannot be filled.
  package func kinds() throws(LiveKitError) -> Set<Track.Kind> {
    try OutputPlanner(self, factory: PipelineFactory(store: store, overrides: [:])).kinds
  }

  /// - Throws: nothing says which template, or there is none of that name.
  private static func name(of destination: Destination, _ factory: PipelineFactory) throws(LiveKitError)
    -> String
  {
    if let mistake = destination.mistake { throw LiveKitError(.invalidParameter, mistake) }
    let names = try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.names(of: .output) }.map(\.name)
    if let name = destination.template, names.contains(name) { return name }
    if let name = destination.output {
      _ = try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.template(.output, name) }
      return name
    }
    throw UnknownOutput(destination: destination, known: names.filter { writes($0, factory) }).error
  }

  /// Whether a template is told a location, or Swift writes what comes out of it.
  private static func writes(_ name: String, _ factory: PipelineFactory) -> Bool {
    guard let template = try? factory.template(.output, name) else { return false }
    if template.variables.contains(where: { $0.name == "location" }) { return true }
    return (try? factory.fill(template, values: [:]))?.hasSegments == true
  }
}

/// The templates that something is made of, as they were read: what runs does not follow a file by itself.
struct ReadTemplates: Sendable {
  let output: Template
  /// By name.
  let encoders: [String: Template]

  /// - Throws: there is no encode template of that name.
  func encoder(_ name: String) throws(LiveKitError) -> Template {
    guard let template = encoders[name] else { throw LiveKitError(.template, "no encode template \"\(name)\"") }
    return template
  }
}

/// The encode templates that there are.
struct Encoders: Sendable {
  /// By what goes in.
  private(set) var all: [Track.Kind: [EncoderTraits]] = [:]
  /// The same of those that lack an element which could be installed, as they are without any value.
  private var lacking: [Track.Kind: [EncoderTraits]] = [:]
  /// By name.
  private(set) var templates: [String: Template] = [:]
  private(set) var wanted: [Track.Kind: String] = [:]

  /// A template that is wrong is passed over, unless it is asked for; `pipelines check` says what is wrong.
  init(_ factory: PipelineFactory, wanted names: [String]) throws(LiveKitError) {
    let entries = try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.list([.encode]) }
    for entry in entries where entry.shadowedBy == nil {
      do throws(LiveKitError) { try add(entry, factory, isWanted: names.contains(entry.name)) } catch {
        if names.contains(entry.name) { throw error }
      }
    }
    for name in names {
      // Says what there is instead.
      if !entries.contains(where: { $0.name == name }) {
        _ = try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.template(.encode, name) }
      }
      for (kind, encoders) in all where encoders.contains(where: { $0.name == name }) {
        if let other = wanted[kind], other != name {
          throw LiveKitError(
            .invalidParameter, "encode/\(other) and encode/\(name) are both for \(kind): give one --encode of each")
        }
        wanted[kind] = name
      }
    }
  }

  private mutating func add(
    _ entry: TemplateStore.Entry, _ factory: PipelineFactory, isWanted: Bool
  ) throws(LiveKitError) {
    let template: Template
    do { template = try factory.store.read(entry) } catch {
      throw LiveKitError(.template, "\(error)", underlying: error)
    }
    // As it is: what a person sets wrongly is told of the template that is used.
    let filled = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try PipelineFactory(store: factory.store, overrides: [:]).fill(template, values: [:])
    }
    let missing = filled.missingElements
    // One for hardware that this machine lacks is none to choose from; what is asked for is told what it lacks.
    guard isWanted || !missing.contains(where: ElementPackage.isHardware) else { return }
    let traits = EncoderTraits(
      name: entry.name, makes: filled.caps(ofElement: "encoded") ?? CapsText("ANY"),
      variables: Set(template.variables.map(\.name)))
    for (kind, input) in OutputPlanner.inputs where filled.elements.contains(where: { $0.name == input.encoder }) {
      if isWanted || missing.isEmpty {
        all[kind, default: []].append(traits)
      } else {
        lacking[kind, default: []].append(traits)
      }
      templates[entry.name] = template
    }
  }

  /// Those of a kind, by whether they lack an element with the values that are set.
  func traits(_ kind: Track.Kind, by factory: PipelineFactory) -> (whole: [EncoderTraits], lacking: [EncoderTraits]) {
    var (whole, lacking) = (all[kind] ?? [], [EncoderTraits]())
    for encoder in self.lacking[kind] ?? [] {
      let filled = templates[encoder.name].flatMap { try? factory.fill($0, values: [:]) }
      if filled?.missingElements.isEmpty == true { whole.append(encoder) } else { lacking.append(encoder) }
    }
    return (whole, lacking)
  }
}
