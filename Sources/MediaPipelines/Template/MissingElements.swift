import GStreamerKit
package import PipelineTemplates

extension FilledTemplate {
  /// The elements of the text that this machine does not have, each once.
  package var missingElements: [String] {
    var missing: [String] = []
    for element in elements where !missing.contains(element.factory) && !GStreamer.hasElement(element.factory) {
      missing.append(element.factory)
    }
    return missing
  }
}
