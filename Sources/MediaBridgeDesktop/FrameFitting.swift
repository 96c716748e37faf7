import GStreamerKit
import MediaBridge
import MediaCore

extension VideoView {
  /// How frames are laid into a place of another shape.
  public enum LayoutMode: Sendable, Hashable {
    /// The whole frame is seen, with black bars where the shapes differ.
    case fit
    /// The whole place is filled, and what stands out of it is cut off.
    case fill
  }
}

/// The elements of a window's text that bring frames to the place that is theirs. One that the text leaves out is not
/// missed: then the text does without what it is for.
final class FrameFitting: Sendable {
  private let crop: Element?
  private let size: Element?
  private let text: Element?

  /// - Parameters:
  ///   - overlayName: what the element is called that writes over the frames.
  ///   - find: the element of a name, nil when there is none.
  init(overlayName: String, _ find: (String) -> Element?) {
    crop = find("crop")
    size = find("size")
    text = find(overlayName)
  }

  /// The size that the text says; nil when it says none.
  var dimensions: Dimensions? { size?.caps("caps").flatMap(Dimensions.init) }

  func fit(into place: Dimensions, _ mode: VideoView.LayoutMode) {
    size?.set(place)
    try? crop?.set("aspect-ratio", to: mode == .fill ? "\(place.width)/\(place.height)" : "0/1")
  }

  /// Writes over the frames; nil writes nothing.
  func write(_ words: String?) {
    try? text?.set("text", to: words.map(PangoText.escaped) ?? "")
    try? text?.set("silent", to: words == nil)
  }
}

extension Element {
  /// Sets the size in the caps of a filter, and leaves what else they say.
  fileprivate func set(_ size: Dimensions) {
    guard let caps = caps("caps") else { return }
    try? set("caps", to: caps.with("width", Int(size.width)).with("height", Int(size.height)).description)
  }
}

extension Dimensions {
  fileprivate init?(_ caps: Caps) {
    guard let width = caps.int("width"), let height = caps.int("height") else { return nil }
    self.init(width: Int32(clamping: width), height: Int32(clamping: height))
  }
}

/// Text of strangers, such as a participant's name, for elements that read Pango's mark-up.
enum PangoText {
  private static let limit = 80

  /// One line that shows as what it says.
  static func escaped(_ text: String) -> String {
    PrintableText(text, limit: limit).description.unicodeScalars.map { scalar in
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
