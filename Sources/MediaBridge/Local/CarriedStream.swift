import Bitstream
import GStreamerKit
import MediaPipelines

/// Video as a source carries it, as far as it matters for sending it without decoding it. Pure.
struct CarriedStream: Sendable, Equatable {
  var codec: VideoCodec
  /// As it is seen; nil where it is not said.
  var size: Dimensions?
  var profile: String?
  /// As far as its parameters say so.
  var hasBFrames = false
  var isInterlaced = false
  var hasSquarePixels = true
  var isTurned = false
  /// Four values of brightness for each colour, in 8 bits: what every subscriber decodes.
  var hasUsualSamples = true

  /// Why it cannot be sent as it is; nil where it can.
  /// - Parameter accepted: the codecs that the room takes.
  func obstacle(accepted: Set<VideoCodec>) -> String? {
    if !accepted.contains(codec) { return "the room takes no \(codec.spoken)" }
    if size == nil { return "it does not say its size" }
    if let profile, codec == .h264, !Self.profiles.contains(profile) {
      return "not everybody decodes its profile \(profile)"
    }
    if !hasUsualSamples { return "not everybody decodes its kind of colours" }
    if hasBFrames { return "it has B-frames" }
    if isInterlaced { return "it is interlaced" }
    if !hasSquarePixels { return "its pixels are not square" }
    return isTurned ? "it has to be turned" : nil
  }

  /// Those without parts that browsers lack.
  private static let profiles: Set<String> = [
    "constrained-baseline", "baseline", "main", "high", "constrained-high", "progressive-high",
  ]
}

extension CarriedStream {
  /// Nil for what is no such video.
  init?(_ captured: CapturedMedia) {
    let caps = captured.media.caps
    guard captured.isEncoded, let codec = VideoCodec(mediaType: caps.mediaType) else { return nil }
    self.init(codec: codec)
    size = Dimensions(of: caps)
    profile = caps.string("profile")
    isInterlaced = !["progressive", nil].contains(caps.string("interlace-mode"))
    hasSquarePixels = caps.fraction("pixel-aspect-ratio").map { $0.numerator == $0.denominator } ?? true
    hasBFrames = codec == .h264 && Self.reordersFrames(captured.media)
    isTurned = captured.media.quarterTurns != 0
    hasUsualSamples =
      ["4:2:0", nil].contains(caps.string("chroma-format")) && [8, nil].contains(caps.int("bit-depth-luma"))
      && (codec != .vp9 || ["0", nil].contains(profile))
  }
}

extension CarriedStream {
  private static func reordersFrames(_ media: MediaBuffer) -> Bool {
    let record = media.caps.bytes("codec_data")
    return media.withUnsafeBytes {
      Bitstream.VideoCodec.h264.reordersFrames(record: record, keyframe: $0) ?? false
    }
  }
}

extension VideoCodec {
  init?(mediaType: String) {
    let prefix = "video/x-"
    guard mediaType.hasPrefix(prefix) else { return nil }
    self.init(rawValue: String(mediaType.dropFirst(prefix.count)))
  }

  /// As people write it.
  package var spoken: String {
    switch self {
    case .h264: "H.264"
    case .h265: "H.265"
    case .vp8, .vp9, .av1: rawValue.uppercased()
    }
  }
}

/// Which codecs of what a ``MediaSource`` carries are sent as they are, without decoding and encoding them. Nothing is lost of
/// them, and it takes a small part of the work; but there is one layer, with keyframes and as many bits as the source has, so
/// that it is paused where the link is too narrow for it.
public struct Passthrough: Sendable, Hashable {
  /// H.264, VP8 or VP9.
  public var video: Set<VideoCodec>
  /// Whether Opus is.
  public var opus: Bool

  /// - Parameter video: H.264, VP8 or VP9; others are always decoded.
  public init(video: Set<VideoCodec>, opus: Bool) { (self.video, self.opus) = (video, opus) }

  /// Whatever can be.
  public static let possible = Passthrough(video: [.h264, .vp8, .vp9], opus: true)
  /// Everything is decoded, and encoded as it is published.
  public static let none = Passthrough(video: [], opus: false)

  var formats: PassthroughFormats {
    PassthroughFormats(
      video: Set(video.intersection(Self.possible.video).map(\.rawValue)), audio: opus ? ["opus"] : [])
  }
}

extension Dimensions {
  /// Nil where caps tell no size.
  init?(of caps: Caps) {
    guard let width = caps.int("width"), let height = caps.int("height") else { return nil }
    self.init(width: Int32(clamping: width), height: Int32(clamping: height))
  }
}
