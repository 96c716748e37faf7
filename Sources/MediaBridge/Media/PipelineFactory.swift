import Foundation
package import GStreamerKit
package import Logging
import MediaCore
package import PipelineTemplates

/// Makes pipelines of templates, and says in a person's words what is wrong with one.
package struct PipelineFactory: Sendable {
  /// Where templates are found.
  package let store: TemplateStore
  /// Values that a person has set, by the variable's name; `check` finds names that no template has.
  package let overrides: [String: String]

  /// - Parameters:
  ///   - folder: searched before the usual places; nil for those only.
  ///   - overrides: by the variable's name; they go before what the program derives.
  ///   - logger: is told of folders that are passed over.
  package init(folder: String?, overrides: [String: String] = [:], logger: Logger = Loggers().pipelines) {
    store = TemplateStore(searchPath: .ofProcess(explicit: folder), onRefusal: { Self.tell($0, to: logger) })
    self.overrides = overrides
  }

  /// Once in the life of the process: rooms, views and recorders all look in the same folders.
  private static func tell(_ refusal: TemplateRefusal, to logger: Logger) {
    guard told.withLock({ $0.insert(refusal.path).inserted }) else { return }
    logger.warning("pipeline templates are passed over", metadata: ["reason": "\(refusal)"])
  }
  private static let told = Locked<Set<String>>([])

  /// All templates there are, of these kinds.
  /// - Throws: `template` when a folder that was asked for cannot be used.
  func list(_ kinds: [TemplateKind] = TemplateKind.allCases) throws(LiveKitError) -> [TemplateStore.Entry] {
    do { return try store.list(kinds).entries } catch { throw LiveKitError(.template, "\(error)") }
  }

  /// Builds the pipeline of a template; it is not started.
  /// - Parameter values: what the program derives; a template takes those that it has variables for, and what a person
  ///   has set goes before them.
  package func make(
    _ kind: TemplateKind, _ name: String, values: [String: String] = [:]
  ) throws(LiveKitError) -> TemplatePipeline {
    let filled = try fill(kind, name, values: values)
    return try make(filled, filled.description)
  }

  /// - Parameter description: the template's, or what is left of it with white space in the place of the rest.
  func make(_ filled: FilledTemplate, _ description: String) throws(LiveKitError) -> TemplatePipeline {
    do {
      let pipeline = try Pipeline(
        description: description, name: "\(filled.kind.rawValue)-\(filled.name)", locate: filled.location(atOffset:))
      return TemplatePipeline(pipeline: pipeline, template: filled)
    } catch {
      throw LiveKitError(error, in: filled)
    }
  }

  /// A template by its kind and name.
  func template(_ kind: TemplateKind, _ name: String) throws(LiveKitError) -> Template {
    do { return try store.find(kind, name) } catch { throw LiveKitError(.template, "\(error)") }
  }

  /// A template with its values, checked for the names that Swift needs.
  package func fill(
    _ kind: TemplateKind, _ name: String, values: [String: String]
  ) throws(LiveKitError) -> FilledTemplate {
    try fill(try template(kind, name), values: values)
  }

  func fill(_ template: Template, values: [String: String]) throws(LiveKitError) -> FilledTemplate {
    do {
      let known = Set(template.variables.map(\.name))
      let usable = values.merging(overrides) { _, set in set }.filter { known.contains($0.key) }
      let filled = try template.fill(usable)
      if let violation = filled.contractViolation {
        throw LiveKitError(.template, "\(filled.file): \(violation)")
      }
      return filled
    } catch let error as LiveKitError {
      throw error
    } catch {
      throw LiveKitError(.template, "\(error)")
    }
  }
}

/// A pipeline and the template that it was made of, so that its errors can name a line.
package struct TemplatePipeline: Sendable {
  /// Not started before `start()`.
  package let pipeline: Pipeline
  /// What the pipeline was made of.
  package let template: FilledTemplate

  /// The appsrc of that name.
  package func source(_ name: String) throws(LiveKitError) -> AppSource {
    do { return try pipeline.appSource(named: name) } catch { throw LiveKitError(error, in: template) }
  }

  /// The source, or nil with its branch taken out of the pipeline when it is not wanted.
  func source(_ name: String, wanted: Bool) throws(LiveKitError) -> AppSource? {
    if wanted { return try source(name) }
    try removeBranch(from: name)
    return nil
  }

  /// The appsink of that name.
  /// - Parameter onBuffer: called on a streaming thread, in order.
  @discardableResult
  package func sink(
    _ name: String, onBuffer: @escaping @Sendable (MediaBuffer) -> Void
  ) throws(LiveKitError) -> AppSink {
    do { return try pipeline.appSink(named: name, onBuffer: onBuffer) } catch {
      throw LiveKitError(error, in: template)
    }
  }

  func onKeyframeRequest(atSource name: String, _ handler: @escaping @Sendable () -> Void) throws(LiveKitError) {
    do { try pipeline.onKeyframeRequest(atSourceNamed: name, handler) } catch {
      throw LiveKitError(error, in: template)
    }
  }

  /// Puts a parser behind a source, so that it takes other stream formats too.
  func insert(_ parser: String, behind source: AppSource) throws(LiveKitError) {
    do { try pipeline.insert(parser, behind: source) } catch { throw LiveKitError(error, in: template) }
  }

  func removeBranch(from name: String) throws(LiveKitError) {
    do { try pipeline.removeBranch(from: name) } catch { throw LiveKitError(error, in: template) }
  }

  /// Starts the pipeline.
  package func start() throws(LiveKitError) {
    do { try pipeline.start() } catch { throw LiveKitError(error, in: template) }
  }

  /// Calls `handler` for each error while the pipeline runs.
  func onFailure(_ handler: @escaping @Sendable (LiveKitError) -> Void) { onFailure { error, _ in handler(error) } }

  /// - Parameter handler: gets the name of the element that failed, too.
  func onFailure(_ handler: @escaping @Sendable (LiveKitError, String?) -> Void) {
    let template = template
    pipeline.onMessage { message in
      if case .error(let error) = message { handler(LiveKitError(error, in: template), error.element) }
    }
  }
}

extension LiveKitError {
  /// What a pipeline reports, with the file and line of its template.
  package init(_ error: PipelineError, in template: FilledTemplate) {
    func place(_ element: String?) -> String {
      error.location?.description ?? element.flatMap { template.line(ofElement: $0) }.map { "\(template.file):\($0)" }
        ?? template.file
    }
    switch error.kind {
    case .missingElements(let names):
      let lines = names.map {
        "\(place($0)): the GStreamer element '\($0)' is missing; \(ElementPackage.advice(forElement: $0))"
      }
      self.init(.missingElement, lines.joined(separator: "; "))
    case .initialization: self.init(.pipeline, "GStreamer cannot start: \(error.message)")
    case .syntax, .property, .link, .noSuchElement: self.init(.template, "\(place(error.element)): \(error.message)")
    case .diskFull: self.init(.output, "the disk is full")
    case .cannotWrite, .notFound, .notAuthorized, .busy:
      self.init(.output, "cannot be written: \(error.message)\(Self.systemsReason(in: error.debug))")
    default: self.init(.pipeline, "\(place(error.element)): \(error.element.map { "\($0): " } ?? "")\(error.message)")
    }
    underlying = error
  }

  /// What the system said, such as `File too large` or `Disk quota exceeded`; GStreamer keeps it for developers.
  private static func systemsReason(in debug: String?) -> String {
    guard let line = debug?.split(separator: "\n").last, let mark = line.range(of: ": ", options: .backwards),
      line.hasPrefix("system error: ") || line.hasPrefix("Error while writing")
    else { return "" }
    return " (\(line[mark.upperBound...]))"
  }
}
