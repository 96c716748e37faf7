import GStreamerKit
import MediaCore

extension Caps {
  /// Of text without marks.
  static let text = Caps("text/x-raw,format=utf8")
}

extension MediaBuffer {
  /// Text without marks, to be seen for so long.
  static func text(_ text: String, lasting: Duration) -> MediaBuffer? {
    Caps.text.map { caps in
      Array(text.utf8).withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil, duration: lasting) }
    }
  }
}
