import MediaCore
import SDP

/// What a LiveKit server offers to its subscribers: in each section every codec that it knows, under its own payload
/// types, whatever the track is sent in.
enum SubscriberFormats {
  static func codecs(of track: PublishedTrack) -> [Codec] {
    track.isVideo ? video : audio(isStereo: track.info.stereo)
  }

  static func headerExtensions(of track: PublishedTrack) -> [HeaderExtension] {
    var uris =
      track.isVideo
      ? [HeaderExtensionURI.dependencyDescriptor, HeaderExtensionURI.absCaptureTime, HeaderExtensionURI.absSendTime]
      : [HeaderExtensionURI.absCaptureTime]
    if track.orientationID != nil { uris.append(HeaderExtensionURI.videoOrientation) }
    return uris.map { uri in HeaderExtension(id: extensionIDs[uri] ?? 1, uri: uri) }
  }

  private static let extensionIDs: [String: UInt16] = [
    HeaderExtensionURI.dependencyDescriptor: 1, HeaderExtensionURI.absCaptureTime: 2,
    HeaderExtensionURI.absSendTime: 3, HeaderExtensionURI.videoOrientation: 4,
  ]

  /// The format in which `codec` goes out: with the same parameters, or else the first of its name; what is inside of RED
  /// where a subscriber takes none.
  static func format(for codec: Codec, in section: NegotiatedSection) -> NegotiatedSection.Format? {
    var named = section.formats.filter { $0.codec.isNamed(codec.name) }
    if named.isEmpty, codec.isRED { named = section.formats.filter { $0.codec.isNamed("opus") } }
    return named.first { Set($0.codec.parameters) == Set(codec.parameters) } ?? named.first
  }

  private static func audio(isStereo: Bool) -> [Codec] {
    let opus = "minptime=10;useinbandfec=1" + (isStereo ? ";sprop-stereo=1" : "")
    return [
      Codec(
        payloadType: PayloadType(111), name: "opus", clockRate: 48_000, channels: 2, fmtp: opus, feedback: ["nack"]),
      Codec(payloadType: PayloadType(63), name: "red", clockRate: 48_000, channels: 2, fmtp: "111/111"),
      Codec(payloadType: PayloadType(0), name: "PCMU", clockRate: 8000, feedback: ["nack"]),
      Codec(payloadType: PayloadType(8), name: "PCMA", clockRate: 8000, feedback: ["nack"]),
    ]
  }

  private static let video =
    repaired(96, "VP8") + repaired(98, "VP9", "profile-id=0") + repaired(100, "VP9", "profile-id=1")
    + repaired(125, "H264", h264(mode: 0)) + repaired(108, "H264", h264(mode: 1))
    + repaired(35, "AV1") + repaired(116, "H265")

  private static func h264(mode: Int) -> String {
    "level-asymmetry-allowed=1;packetization-mode=\(mode);profile-level-id=42e01f"
  }

  /// A codec and its RTX.
  private static func repaired(_ number: UInt8, _ name: String, _ fmtp: String? = nil) -> [Codec] {
    [
      Codec(
        payloadType: PayloadType(number), name: name, clockRate: 90_000, fmtp: fmtp,
        feedback: ["ccm fir", "nack", "nack pli", "goog-remb"]),
      Codec(payloadType: PayloadType(number + 1), name: "rtx", clockRate: 90_000, fmtp: "apt=\(number)"),
    ]
  }
}
