import Foundation

/// Which template writes which file, and what it is to be fed.
struct OutputFormat: Sendable {
  enum Feed: Sendable, Equatable {
    /// As the sender encoded it.
    case encoded
    /// Decoded pictures or sound.
    case raw
  }

  let template: String
  let video: Feed
  let audio: Feed

  static let extensions = ["mp4", "mkv", "webm"]

  /// The cheapest way to store a codec in a file of this name.
  /// - Parameter videoCodec: such as `vp8`; nil when there are no pictures.
  init(file: String, videoCodec: String?) throws(LiveKitError) {
    let kind = URL(fileURLWithPath: file).pathExtension.lowercased()
    switch (kind, videoCodec) {
    case ("mkv", _): self.init(template: "mkv", video: .encoded, audio: .encoded)
    case ("webm", "h264"): self.init(template: "webm-transcode", video: .raw, audio: .encoded)
    case ("webm", _): self.init(template: "webm", video: .encoded, audio: .encoded)
    case ("mp4", "h264"), ("mp4", nil): self.init(template: "mp4", video: .encoded, audio: .raw)
    case ("mp4", _): self.init(template: "mp4-transcode", video: .raw, audio: .raw)
    default:
      let known = Self.extensions.map { "." + $0 }.joined(separator: ", ")
      throw LiveKitError(.invalidParameter, "'\(file)': the name has to end in one of \(known)")
    }
  }

  private init(template: String, video: Feed, audio: Feed) {
    self.template = template
    self.video = video
    self.audio = audio
  }
}
