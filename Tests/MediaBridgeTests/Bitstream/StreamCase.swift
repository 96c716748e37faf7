import Bitstream
import Testing

/// A way to encode, and the decoders that have to agree on what comes of it.
struct StreamCase: Sendable, CustomTestStringConvertible {
  enum Encoder: Sendable {
    /// Elements between raw frames and access units.
    case gstreamer(String)
    /// Options for ffmpeg, where it can do what GStreamer's text cannot say.
    case ffmpeg(String, passes: Int = 1)
  }

  var codec: VideoCodec
  var name: String
  var encoder: Encoder
  var width = 320
  var height = 240
  /// Whether every frame shown is kept as a reference, so that all repeat frames are exact.
  var isExact = true
  var isBaseline = false
  /// Whether black is 0 and not 16.
  var hasFullRange = false

  var testDescription: String { "\(name) \(width)x\(height)" }

  /// The reference decoder of the format, and libavcodec's, which most players have.
  var decoders: [String] {
    switch codec {
    case .vp8: ["vp8dec", "avdec_vp8"]
    case .vp9: ["vp9dec", "avdec_vp9"]
    case .av1: ["av1dec"]
    default: isBaseline ? ["avdec_h264", "h264parse ! openh264dec"] : ["avdec_h264"]
    }
  }

  func sized(_ width: Int, _ height: Int) -> StreamCase {
    var other = self
    other.width = width
    other.height = height
    return other
  }

  static let all: [StreamCase] = [
    vp8, vp8.sized(638, 358), vp8.sized(176, 144), vp8Hidden, vp8Layers,
    vp9, vp9.sized(638, 358), vp9Adaptive, vp9SuperFrames, vp9Layers, vp9Profile1,
    x264Baseline, x264Baseline.sized(638, 358), x264Main, x264Main.sized(638, 358), x264High,
    openH264, openH264.sized(638, 358), av1, av1.sized(638, 358), av1Hidden,
  ]
}

extension StreamCase {
  /// As libwebrtc sets it up for a camera.
  static let vp8 = StreamCase(
    codec: .vp8, name: "VP8 realtime",
    encoder: .gstreamer(
      """
      vp8enc deadline=1 cpu-used=6 error-resilient=default lag-in-frames=0 end-usage=cbr target-bitrate=400000
      keyframe-max-dist=3000 static-threshold=1
      """))
  /// Golden and alternate references with frames that are not shown, and probabilities that carry on.
  static let vp8Hidden = StreamCase(
    codec: .vp8, name: "VP8 hidden frames",
    encoder: .ffmpeg("-c:v libvpx -b:v 200k -auto-alt-ref 1 -lag-in-frames 12 -cpu-used 4", passes: 2))
  /// Three layers; the uppermost is no reference, the one between is kept as golden.
  static let vp8Layers = StreamCase(
    codec: .vp8, name: "VP8 temporal layers", encoder: .ffmpeg("-c:v libvpx -cpu-used 6 \(layers)"), isExact: false)

  private static let layers = """
    -deadline realtime -error-resilient 1 -b:v 400k -g 3000 -ts-parameters ts_number_layers=3:\
    ts_target_bitrate=200,300,400:ts_rate_decimator=4,2,1:ts_periodicity=4:ts_layer_id=0,2,1,2:ts_layering_mode=3
    """

  private static let superFrames = "vp9parse ! video/x-vp9,alignment=super-frame"
  static let vp9 = StreamCase(
    codec: .vp9, name: "VP9 realtime",
    encoder: .gstreamer(
      """
      vp9enc deadline=1 cpu-used=8 error-resilient=default lag-in-frames=0 end-usage=cbr target-bitrate=400000
      keyframe-max-dist=3000 aq-mode=cyclic-refresh ! \(superFrames)
      """))
  /// Probabilities and motion vectors of one frame are used in the next.
  static let vp9Adaptive = StreamCase(
    codec: .vp9, name: "VP9 with carried probabilities",
    encoder: .gstreamer(
      "vp9enc deadline=1 cpu-used=5 lag-in-frames=0 target-bitrate=400000 keyframe-max-dist=3000 ! \(superFrames)"))
  static let vp9SuperFrames = StreamCase(
    codec: .vp9, name: "VP9 super-frames",
    encoder: .ffmpeg("-c:v libvpx-vp9 -b:v 200k -auto-alt-ref 1 -lag-in-frames 16 -cpu-used 4", passes: 2))
  static let vp9Layers = StreamCase(
    codec: .vp9, name: "VP9 temporal layers", encoder: .ffmpeg("-c:v libvpx-vp9 -cpu-used 8 \(layers)"),
    isExact: false)
  static let vp9FullRange = StreamCase(
    codec: .vp9, name: "VP9 full range",
    encoder: .ffmpeg("-c:v libvpx-vp9 -cpu-used 8 -deadline realtime -color_range pc -b:v 400k"), hasFullRange: true)
  static let vp9Profile1 = StreamCase(
    codec: .vp9, name: "VP9 profile 1",
    encoder: .gstreamer(
      """
      videoconvert ! video/x-raw,format=Y444 ! vp9enc deadline=1 cpu-used=8 lag-in-frames=0 target-bitrate=400000
      ! \(superFrames)
      """))

  /// With keyframes between, which are repeated as a whole.
  static let av1 = StreamCase(
    codec: .av1, name: "AV1 realtime",
    encoder: .gstreamer(
      """
      av1enc usage-profile=realtime cpu-used=9 lag-in-frames=0 end-usage=cbr target-bitrate=400 min-quantizer=2
      max-quantizer=56 keyframe-max-dist=13 ! av1parse ! video/x-av1,stream-format=obu-stream,alignment=tu
      """))
  /// Frames that are not shown, several to a unit, and some that were there and are shown.
  static let av1Hidden = StreamCase(
    codec: .av1, name: "AV1 hidden frames",
    encoder: .gstreamer(
      """
      av1enc cpu-used=8 lag-in-frames=19 target-bitrate=200 min-quantizer=2 max-quantizer=60 keyframe-max-dist=3000
      ! av1parse ! video/x-av1,stream-format=obu-stream,alignment=tu
      """), isExact: false)

  private static let avc = "h264parse config-interval=-1 ! video/x-h264,stream-format=avc,alignment=au"
  /// Picture order of type 2.
  static let x264Baseline = StreamCase(
    codec: .h264, name: "x264 constrained baseline",
    encoder: .gstreamer(
      """
      x264enc speed-preset=ultrafast tune=zerolatency bitrate=2000 key-int-max=3000
      ! video/x-h264,profile=constrained-baseline ! \(avc)
      """), isBaseline: true)
  static let x264Main = StreamCase(
    codec: .h264, name: "x264 main, CABAC, weights, several references",
    encoder: .gstreamer(
      """
      x264enc speed-preset=medium bframes=0 bitrate=500 key-int-max=3000 rc-lookahead=5 sync-lookahead=0 threads=1
      option-string="weightp=2:ref=4" ! video/x-h264,profile=main ! \(avc)
      """))
  static let x264High = StreamCase(
    codec: .h264, name: "x264 high, CABAC, slices",
    encoder: .gstreamer(
      """
      x264enc speed-preset=fast tune=zerolatency threads=3 bitrate=500 key-int-max=12
      ! video/x-h264,profile=high ! \(avc)
      """))
  /// Luma from 0 to 255, as a shared screen may have it.
  static let x264FullRange = StreamCase(
    codec: .h264, name: "x264 main, full range",
    encoder: .gstreamer(
      """
      capssetter caps=video/x-raw,colorimetry=1:4:5:1 ! x264enc speed-preset=ultrafast tune=zerolatency key-int-max=3000
      ! video/x-h264,profile=main ! \(avc)
      """), hasFullRange: true)
  static let x264High444 = StreamCase(
    codec: .h264, name: "x264 high 4:4:4",
    encoder: .gstreamer(
      """
      videoconvert ! video/x-raw,format=Y444 ! x264enc speed-preset=ultrafast tune=zerolatency key-int-max=3000 ! \(avc)
      """))
  /// Picture order of type 0.
  static let openH264 = StreamCase(
    codec: .h264, name: "OpenH264 as in WebRTC",
    encoder: .gstreamer(
      """
      openh264enc usage-type=camera rate-control=bitrate bitrate=500000 gop-size=3000 complexity=low ! \(avc)
      """), isBaseline: true)
}
