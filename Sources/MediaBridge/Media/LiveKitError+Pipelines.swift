package import GStreamerKit
package import MediaPipelines
package import PipelineTemplates

extension LiveKitError {
  /// What is wrong with a template or its pipeline, for people.
  package init(_ failure: PipelineFailure) {
    let code: Code =
      switch failure.kind {
      case .value: .invalidParameter
      case .template: .template
      case .missingElement: .missingElement
      case .destination: .output
      case .pipeline: .pipeline
      }
    self.init(code, failure.message, underlying: failure.underlying)
  }

  /// What a pipeline reports, with the file and line of its template.
  package init(_ error: PipelineError, in template: FilledTemplate) {
    self.init(PipelineFailure(error, in: template))
  }

  /// Does what may fail for a template or its pipeline.
  package static func wrapping<Result>(
    _ body: () throws(PipelineFailure) -> Result
  ) throws(LiveKitError) -> Result {
    do { return try body() } catch { throw LiveKitError(error) }
  }
}

extension PipelineFactory {
  /// - Parameters:
  ///   - folder: searched before the usual places; nil for those only.
  ///   - overrides: by the variable's name; they go before what the program derives.
  package init(folder: String?, overrides: [String: String] = [:]) {
    self.init(folder: folder, overrides: overrides, logger: Loggers().pipelines)
  }
}
