/// The header extensions that this project, LiveKit or libwebrtc knows.
public enum HeaderExtensionURI {
  public static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
  public static let rtpStreamID = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
  public static let repairedRTPStreamID = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
  public static let audioLevel = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
  public static let transportCC =
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
  public static let absSendTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
  public static let absCaptureTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
  public static let dependencyDescriptor =
    "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"
  public static let playoutDelay = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
  public static let videoOrientation = "urn:3gpp:video-orientation"
  public static let timestampOffset = "urn:ietf:params:rtp-hdrext:toffset"
}
