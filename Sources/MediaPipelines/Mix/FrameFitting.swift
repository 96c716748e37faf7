package import GStreamerKit
import MediaCore

/// The elements of a template that bring frames to the place that is theirs. One that the template leaves out is not
/// missed: then it does without what that is for.
package final class FrameFitting: Sendable {
  private let crop: CropShape?
  private let filter: Element?
  private let overlay: Element?

  /// - Parameters:
  ///   - overlayName: what the element is called that writes over the frames.
  ///   - find: the element of a name, nil when there is none.
  package init(overlayName: String, _ find: (String) -> Element?) {
    crop = find("crop").flatMap { try? CropShape($0) }
    filter = find("size")
    overlay = find(overlayName)
  }

  /// The size that the template says; nil when it says none.
  package var size: PixelSize? { filter?.caps("caps").flatMap(PixelSize.init) }

  /// Cuts frames to the shape of the place only where they are to cover it.
  package func fit(into size: PixelSize, _ fit: TilePlace.Fit) {
    filter?.set(size)
    crop?.set(fit == .cover ? "\(size.width)/\(size.height)" : "0/1")
  }

  /// Makes frames as large as they fit into the place, without bars, or cuts them to its shape.
  func fit(into place: TilePlace) {
    guard place.fit == .contain else { return fit(into: place.size, .cover) }
    filter?.set(within: place.size)
    crop?.set("0/1")
  }

  /// Writes over the frames; nil writes nothing.
  /// - Parameter isMuted: whether a mark behind the words says so.
  package func write(_ words: String?, isMuted: Bool = false) {
    let mark = isMuted ? PangoText.mutedMark : ""
    try? overlay?.set("text", to: words.map { PangoText.escaped($0) + mark } ?? "")
    try? overlay?.set("silent", to: words == nil)
  }
}

extension Element {
  /// Sets the size in the caps of a filter, and leaves what else they say.
  fileprivate func set(_ size: PixelSize) {
    guard let caps = caps("caps") else { return }
    try? set("caps", to: caps.with("width", size.width).with("height", size.height).description)
  }

  /// The same for the largest size; what negotiates keeps the shape.
  fileprivate func set(within size: PixelSize) {
    guard let caps = caps("caps") else { return }
    try? set("caps", to: caps.with("width", upTo: size.width).with("height", upTo: size.height).description)
  }
}

extension PixelSize {
  fileprivate init?(_ caps: Caps) {
    guard let width = caps.int("width"), let height = caps.int("height") else { return nil }
    self.init(width: width, height: height)
  }
}

/// Text of strangers, such as a participant's name, for elements that read Pango's mark-up.
package enum PangoText {
  private static let limit = 80

  /// A word and no sign: fonts lack the signs for it.
  static let mutedMark = "  <span background='#c62828' foreground='white'> muted </span>"

  /// One line that shows as what it says.
  package static func escaped(_ text: String) -> String { quoted(PrintableText(text, limit: limit).description) }

  /// Shows as what it says, whatever that is.
  static func quoted(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\"": "&quot;"
      case "'": "&#39;"
      default: String(scalar)
      }
    }.joined()
  }
}
