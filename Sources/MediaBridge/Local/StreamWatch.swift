import Bitstream
import GStreamerKit
import MediaCore

/// Follows video that is sent as its source carries it, and says when that cannot go on. Pure.
///
/// Frames have to be sent in the order in which they are shown, and whoever comes later sees nothing before the next keyframe,
/// for which a source cannot be asked.
struct StreamWatch: Sendable {
  /// What is looked at of a frame.
  struct Frame: Sendable {
    var codec: VideoCodec
    var time: MediaTime
    var isKeyframe: Bool
    /// Made of frames that are shown later.
    var isBidirectional = false
  }

  /// As long as who comes later waits for the first frame.
  static let longestInterval = Duration.seconds(4)
  /// Times of live sources jitter.
  private static let slack = Duration.milliseconds(500)

  /// Where nothing came for so long, it was muted, or away.
  private static let pause = Duration.seconds(1)

  private var codec: VideoCodec?
  private var first: MediaTime?
  private var newest: MediaTime?
  /// Of the last keyframe, or of what came first.
  private var begin: MediaTime?
  /// Of what came last.
  private var run = 0
  private var formats = CapsReading<Format>()

  /// What the caps say.
  private struct Format: Sendable {
    let codec: VideoCodec?
    /// Of the lengths in front of the units of a frame; nil where there are none.
    let lengthSize: Int?

    init(_ caps: Caps) {
      codec = VideoCodec(mediaType: caps.mediaType)
      lengthSize = caps.bytes("codec_data").flatMap(Bitstream.VideoCodec.lengthSize)
    }
  }

  /// How much was seen of it.
  var length: Duration { first.flatMap { first in newest.map { $0 - first } } ?? .zero }

  /// - Returns: why it cannot be sent as it is from the next keyframe on; nil while it can.
  mutating func note(_ frame: Frame) -> String? {
    defer { newest = max(newest ?? frame.time, frame.time) }
    if first == nil { first = frame.time }
    if frame.isKeyframe || newest.map({ frame.time - $0 > Self.pause }) ?? true { begin = frame.time }
    if let codec, codec != frame.codec { return "it is \(frame.codec.spoken) now" }
    codec = frame.codec
    let isBackwards = newest.map { frame.time < $0 } ?? false
    // A stream that begins anew in the midst of another one begins with a keyframe.
    if frame.isBidirectional || isBackwards && !frame.isKeyframe { return "it has B-frames" }
    return frame.time - (begin ?? frame.time) <= Self.longestInterval + Self.slack
      ? nil : "its keyframes are more than \(Self.longestInterval.components.seconds) s apart"
  }
}

extension StreamWatch {
  /// The same of what a source hands over.
  mutating func note(_ captured: CapturedMedia) -> String? {
    guard captured.isEncoded else { return nil }
    // No keyframe is late, and nothing is out of order, of what a source that has begun anew has not sent.
    if captured.run != run { (run, newest) = (captured.run, nil) }
    let carried = formats.value(of: captured.media.caps, Format.init)
    guard let codec = carried.codec else { return nil }
    let obstacle = note(
      Frame(
        codec: codec, time: captured.time, isKeyframe: !captured.media.isDelta,
        isBidirectional: codec == .h264 && Self.isBidirectional(captured.media, carried.lengthSize)))
    return obstacle ?? (codec == .vp9 && !captured.fitsPackets ? "it shows frames a second time" : nil)
  }

  private static func isBidirectional(_ media: MediaBuffer, _ lengthSize: Int?) -> Bool {
    media.withUnsafeBytes { Bitstream.VideoCodec.h264.isBidirectional(frame: $0, lengthSize: lengthSize) }
  }
}

extension CapturedMedia {
  /// Whether payloaders take it, of video as its source carries it: those of VP8 and VP9 end with an error over less than
  /// 3 bytes. A VP9 frame that only shows an earlier one (`show_existing_frame`) has 1.
  var fitsPackets: Bool { media.size > 2 }
}
