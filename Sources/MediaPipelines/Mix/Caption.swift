import GStreamerKit

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
