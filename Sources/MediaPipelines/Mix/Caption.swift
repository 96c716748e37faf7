import GStreamerKit
package import PipelineTemplates

/// The element of a template that shows labels.
package enum Caption {
  /// The agreed name.
  static let element = "caption"
  /// Of the whole frame: some lines in the shipped font.
  static let columns = 200
  /// Of a tile, where fonts are larger for its size.
  static let tileColumns = 90

  /// - Parameter text: of anybody; empty shows nothing.
  static func write(_ text: String, columns: Int, over caption: Element) throws(PipelineError) {
    let shown = LabelText.shown(text, columns: columns)
    try caption.set("text", to: PangoText.quoted(shown))
    try caption.set("silent", to: shown.isEmpty)
  }
}

extension FilledTemplate {
  /// - Throws: it has no element that shows labels.
  package func checkCaption() throws(PipelineFailure) {
    guard !elements.contains(where: { $0.name == Caption.element }) else { return }
    throw PipelineFailure(
      .template,
      "\(file) cannot show labels: it has no element called \(Caption.element); put in one, such as the textoverlay of the "
        + "template \(kind.rawValue)/\(name) that is shipped")
  }
}
