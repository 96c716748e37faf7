import GStreamerKit
import PipelineTemplates

/// Makes running pipelines of template texts, and says in a person's words what is wrong with one.
struct PipelineFactory: Sendable {
  let store: TemplateStore
  /// Values for variables, by name; a template takes those that it knows.
  var overrides: [String: String] = [:]

  init(folder: String?, overrides: [String: String] = [:]) {
    store = TemplateStore(searchPath: .ofProcess(explicit: folder))
    self.overrides = overrides
  }

  func make(
    _ kind: TemplateKind, _ name: String, values: [String: String] = [:],
    onMessage: @escaping @Sendable (PipelineMessage) -> Void = { _ in }
  ) throws(LiveKitError) -> (Pipeline, FilledTemplate) {
    let filled = try fill(kind, name, values: values)
    do {
      return (try Pipeline(description: filled.description, name: "\(kind.rawValue)-\(name)", onMessage: onMessage), filled)
    } catch {
      throw explain(error, filled)
    }
  }

  func fill(_ kind: TemplateKind, _ name: String, values: [String: String]) throws(LiveKitError) -> FilledTemplate {
    do {
      let template = try store.find(kind, name)
      let known = Set(template.variables.map(\.name))
      let usable = overrides.merging(values) { _, given in given }.filter { known.contains($0.key) }
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

  private func explain(_ error: PipelineError, _ filled: FilledTemplate) -> LiveKitError {
    func place(_ element: String) -> String {
      filled.line(ofElement: element).map { "\(filled.file):\($0)" } ?? filled.file
    }
    switch error {
    case .missingElements(let names):
      let lines = names.map { "\(place($0)): the GStreamer element '\($0)' is missing; \(ElementPackage.advice(forElement: $0))" }
      return LiveKitError(.missingElement, lines.joined(separator: "; "))
    case .syntax(let message): return LiveKitError(.template, "\(filled.file): \(message)")
    case .noElement(let name): return LiveKitError(.template, "\(filled.file): no usable element called '\(name)'")
    case .cannotStart(let element, let message):
      return LiveKitError(.pipeline, "\(place(element)): \(element): \(message)")
    case .library(let message): return LiveKitError(.pipeline, "GStreamer cannot start: \(message)")
    }
  }

  /// Starts a pipeline; what its elements refuse is told with the template's line.
  func start(_ pipeline: Pipeline, _ filled: FilledTemplate) throws(LiveKitError) {
    do { try pipeline.start() } catch { throw explain(error, filled) }
  }

  func source(_ name: String, of pipeline: Pipeline, _ filled: FilledTemplate) throws(LiveKitError) -> AppSource {
    do { return try pipeline.source(name) } catch { throw explain(error, filled) }
  }

  func sink(
    _ name: String, of pipeline: Pipeline, _ filled: FilledTemplate,
    onBuffer: @escaping @Sendable (MediaBuffer) -> Void
  ) throws(LiveKitError) -> AppSink {
    do { return try pipeline.sink(name, onBuffer: onBuffer) } catch { throw explain(error, filled) }
  }
}
