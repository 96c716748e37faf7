import ArgumentParser
import MediaBridge
import MediaPipelines
import PipelineTemplates

/// `--process`: the templates that frames go through, one after the other.
struct PublishProcess: Sendable {
  /// As they were given.
  var names: [String]
  private var values: [[String: String]] = []
  private var folder: String?

  /// - Throws: for what is no process template.
  init(_ list: String?, folder: String?) throws {
    names = list?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    self.folder = folder
    guard !names.isEmpty else { return }
    let known = try PipelineFactory(folder: folder).names(of: .process).map(\.name)
      .filter { $0 != PlaceholderPainter.template.name }
    for name in names where !known.contains(name) {
      let advice =
        NearestName.of(name, in: known).map { "did you mean '\($0)'?" }
        ?? "give one of \(known.joined(separator: ", "))"
      throw ValidationError("--process \(name): there is no process template of that name; \(advice)")
    }
  }

  var templates: [TemplateName] { names.map { TemplateName(.process, $0) } }

  /// By which a value may be for one of them alone.
  var places: [Destination] { names.map { Destination(location: "", output: $0) } }

  /// - Parameters:
  ///   - shared: what is set for all, by template.
  ///   - own: what is set for each alone.
  mutating func set(_ shared: [[String: String]], _ own: [[String: String]]) {
    values = zip(shared, own).map { $0.merging($1) { _, own in own } }
  }

  /// What one track has its frames processed by; nil for none.
  /// - Throws: why one of them cannot run.
  func make() throws(LiveKitError) -> (any VideoProcessor)? {
    var steps: [any VideoProcessor] = []
    for (name, values) in zip(names, values) {
      do { steps.append(try TemplateVideoProcessor(template: name, values: values, pipelineFolder: folder)) } catch {
        throw LiveKitError(
          error.code, "--process \(name): \(error.message)", fault: error.fault, underlying: error.underlying)
      }
    }
    return steps.isEmpty ? nil : VideoProcessorChain(steps)
  }

  /// - Throws: where there is nothing to be processed.
  func check(hasVideo: Bool) throws(LiveKitError) {
    guard !names.isEmpty, !hasVideo else { return }
    throw LiveKitError(
      .invalidParameter, "--process \(names.joined(separator: ",")): there is no video in what is to be published")
  }
}
