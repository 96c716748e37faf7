/// The video codecs whose streams we look into.
public enum VideoCodec: Sendable, Equatable, CaseIterable {
  /// VP8 (RFC 6386).
  case vp8
  /// VP9.
  case vp9
  /// H.264 (ITU-T H.264), also AVC.
  case h264
  /// H.265 (ITU-T H.265), also HEVC.
  case h265
  /// AV1.
  case av1

  /// The codec of an SDP encoding name (RFC 8866, 6.6); case does not matter.
  public init?(encodingName: String) {
    switch encodingName.lowercased() {
    case "vp8": self = .vp8
    case "vp9": self = .vp9
    case "h264": self = .h264
    case "h265": self = .h265
    case "av1": self = .av1
    default: return nil
    }
  }
}
