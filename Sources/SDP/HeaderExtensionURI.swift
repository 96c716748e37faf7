/// The header extensions that this project, LiveKit or libwebrtc knows.
public enum HeaderExtensionURI {
  /// The media section that a packet belongs to (RFC 9143, 15).
  public static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
  /// The `rid` of the simulcast layer that a packet belongs to (RFC 8852).
  public static let rtpStreamID = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
  /// The `rid` of the layer that a retransmission repairs (RFC 8852).
  public static let repairedRTPStreamID = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
  /// How loud the audio of a packet is, in dB below full scale (RFC 6464).
  public static let audioLevel = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
  /// A number that counts all packets of a connection, for feedback about their arrival.
  public static let transportCC =
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
  /// When a packet was sent: 24 bits, of which 18 are fractions of a second.
  public static let absSendTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
  /// When a frame was captured, on the wall clock of whoever did.
  public static let absCaptureTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
  /// Which frames a frame needs and which layers it is for (the AV1 RTP specification, appendix A).
  public static let dependencyDescriptor =
    "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"
  /// The least and the longest wait before a frame is shown, in steps of 10 ms.
  public static let playoutDelay = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
  /// How far frames are to be turned to be upright (3GPP TS 26.114, 7.4.5).
  public static let videoOrientation = "urn:3gpp:video-orientation"
  /// How long after its timestamp a packet was sent, in ticks (RFC 5450).
  public static let timestampOffset = "urn:ietf:params:rtp-hdrext:toffset"
}
