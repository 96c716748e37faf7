import GStreamerKit
package import PipelineTemplates

/// The element of a template that shows labels and what is said.
package enum Caption {
  /// The agreed name.
  static let element = "caption"
  /// Of the whole frame: some lines in the shipped font.
  static let columns = 200
  /// Of a tile, where fonts are larger for its size.
  static let tileColumns = 90

  /// - Parameter lines: of visible characters; empty shows nothing.
  static func write(_ lines: String, over caption: Element) throws(PipelineError) {
    try caption.set("text", to: PangoText.quoted(lines))
    try caption.set("silent", to: lines.isEmpty)
  }
}

extension FilledTemplate {
  /// - Throws: it has no element that shows labels.
  package func checkCaption() throws(PipelineFailure) {
    guard !elements.contains(where: { $0.name == Caption.element }) else { return }
    throw PipelineFailure(
      .template,
      "\(file) cannot show labels and captions: it has no element called \(Caption.element); put in one, such as the "
        + "textoverlay of the template \(kind.rawValue)/\(name) that is shipped")
  }
}
