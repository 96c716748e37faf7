import GStreamerKit
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
  package init(folder: String?, overrides: [String: String] = [:], logger: Logger) {
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
  package func list(_ kinds: [TemplateKind] = TemplateKind.allCases) throws(PipelineFailure) -> [TemplateStore.Entry] {
    do { return try store.list(kinds).entries } catch { throw PipelineFailure(template: error) }
  }

  /// Builds the pipeline of a template; it is not started.
  /// - Parameter values: what the program derives; a template takes those that it has variables for, and what a person
  ///   has set goes before them.
  package func make(
    _ kind: TemplateKind, _ name: String, values: [String: String] = [:]
  ) throws(PipelineFailure) -> TemplatePipeline {
    try make(try fill(kind, name, values: values))
  }

  /// Builds a template with its values, without what it has for each further audio.
  package func make(_ filled: FilledTemplate) throws(PipelineFailure) -> TemplatePipeline {
    try make(filled, filled.description(withAudio: []))
  }

  /// - Parameter description: the template's, or what is left of it with white space in the place of the rest.
  package func make(_ filled: FilledTemplate, _ description: String) throws(PipelineFailure) -> TemplatePipeline {
    // Encoders bring the largest libraries along, and nobody sees how soon one begins.
    if filled.kind == .encode { GStreamer.releaseLoadedCode() }
    do {
      let pipeline = try Pipeline(
        description: description, name: "\(filled.kind.rawValue)-\(filled.name)", locate: filled.location(atOffset:))
      return TemplatePipeline(pipeline: pipeline, template: filled)
    } catch {
      throw PipelineFailure(error, in: filled)
    }
  }

  /// A template by its kind and name.
  package func template(_ kind: TemplateKind, _ name: String) throws(PipelineFailure) -> Template {
    do { return try store.find(kind, name) } catch { throw PipelineFailure(template: error) }
  }

  /// A template with its values, checked for the names that Swift needs.
  package func fill(
    _ kind: TemplateKind, _ name: String, values: [String: String]
  ) throws(PipelineFailure) -> FilledTemplate {
    try fill(try template(kind, name), values: values)
  }

  package func fill(_ template: Template, values: [String: String]) throws(PipelineFailure) -> FilledTemplate {
    do {
      let known = Set(template.variables.map(\.name))
      let usable = values.merging(overrides) { _, set in set }.filter { known.contains($0.key) }
      let filled = try template.fill(EncoderSlices.values(of: template, usable))
      if let violation = filled.contractViolation {
        let line = filled.contractLine.map { ":\($0)" } ?? ""
        throw PipelineFailure(.template, "\(filled.file)\(line): \(violation)")
      }
      return filled
    } catch let error as PipelineFailure {
      throw error
    } catch {
      throw PipelineFailure(template: error)
    }
  }
}
