/// What of a source is handed on as it is, by the names of its codecs: `h264`, `vp8`, `vp9`, `opus`.
package struct PassthroughFormats: Hashable, Sendable {
  package var video: Set<String>
  package var audio: Set<String>

  /// Without arguments everything is decoded.
  package init(video: Set<String> = [], audio: Set<String> = []) { (self.video, self.audio) = (video, audio) }

  package var isEmpty: Bool { video.isEmpty && audio.isEmpty }

  /// For the template's variable `formats`: at which caps decoding ends.
  var values: [String: String] {
    guard !isEmpty else { return [:] }
    let kept = video.union(audio).sorted().compactMap { Self.caps[$0] }
    return ["formats": (kept + ["video/x-raw", "audio/x-raw"]).joined(separator: ";")]
  }

  /// H.264 with its units cut, and Opus of at most two channels.
  private static let caps = [
    "h264": "video/x-h264,parsed=true", "vp8": "video/x-vp8", "vp9": "video/x-vp9",
    "opus": "audio/x-opus,channel-mapping-family=0",
  ]
}
