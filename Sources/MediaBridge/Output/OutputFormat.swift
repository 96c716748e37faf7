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

  /// By how much sound is heard later in the file than it was fed: AAC begins with 1024 samples of run-in, and players
  /// that know no edit list, such as FFmpeg's of a fragmented MP4, play them.
  var soundDelay: Duration { audio == .raw ? .nanoseconds(1024 * 1_000_000_000 / 48_000) : .zero }

  /// What is known of the pictures when the file is begun.
  enum Pictures: Sendable {
    case none
    /// Of any codec, which is not known yet, or at any turn, which a file cannot hold.
    case any
    case codec(String)
  }

  static let extensions = ["mp4", "mkv", "webm"]

  /// The cheapest way to store pictures and sound in a file of this name.
  init(file: String, pictures: Pictures) throws(LiveKitError) {
    let kind = URL(fileURLWithPath: file).pathExtension.lowercased()
    switch (kind, pictures) {
    case ("mkv", .any): self.init(template: "mkv-transcode", video: .raw, audio: .encoded)
    case ("mkv", _): self.init(template: "mkv", video: .encoded, audio: .encoded)
    case ("webm", .any), ("webm", .codec("h264")): self.init(template: "webm-transcode", video: .raw, audio: .encoded)
    case ("webm", _): self.init(template: "webm", video: .encoded, audio: .encoded)
    case ("mp4", .none), ("mp4", .codec("h264")): self.init(template: "mp4", video: .encoded, audio: .raw)
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

extension OutputFormat.Pictures {
  /// Those of a track that sends something, or of one that is yet to come.
  init(_ media: TrackMedia?) {
    self = media.flatMap { $0.mayTurn ? nil : .codec($0.codec) } ?? .any
  }
}
