public import MediaCore

/// A track that this side offers to send.
public struct SendingTrack: Equatable, Sendable {
  /// `.audio` or `.video`.
  public var kind: MediaSection.Kind
  /// A LiveKit server writes `PARTICIPANT_SID|TRACK_SID` and `TRACK_SID`; a client its own stream and track ids (`cid`).
  public var msid: MediaStreamID
  /// In the order of preference, RTX formats among them; see `CodecCatalogue`.
  public var codecs: [Codec]
  /// With the ids that packets will bear; see `CodecCatalogue.extensions(_:)`.
  public var headerExtensions: [HeaderExtension]
  /// The name that all sources of this side share (RFC 3550, 6.5.1).
  public var cname: String
  /// Announced sources. Without them the streams are found by the mid and rid header extensions.
  public var ssrc: SSRC?
  /// The source of retransmissions; without a meaning where `ssrc` is nil.
  public var rtxSSRC: SSRC?
  /// Simulcast layers by rid, lowest first as LiveKit has them (`q`, `h`, `f`); empty for a single stream.
  public var rids: [String]

  /// - Parameter rids: with layers, leave out `ssrc`: they are found by their header extensions.
  public init(
    kind: MediaSection.Kind, msid: MediaStreamID, codecs: [Codec], headerExtensions: [HeaderExtension] = [],
    cname: String, ssrc: SSRC? = nil, rtxSSRC: SSRC? = nil, rids: [String] = []
  ) {
    self.kind = kind
    self.msid = msid
    self.codecs = codecs
    self.headerExtensions = headerExtensions
    self.cname = cname
    self.ssrc = ssrc
    self.rtxSSRC = rtxSSRC
    self.rids = rids
  }

  /// Writes what only a sending section says: identity, sources and layers.
  func describe(in section: inout MediaSection) {
    section.msids = [msid]
    if !rids.isEmpty {
      section.rids = rids.map { RestrictionID(id: $0, direction: .send) }
      section.simulcast = Simulcast(send: rids.map { [.init(rid: $0)] })
    }
    guard let ssrc else { return }
    section.sources = [SourceDescription(ssrc: ssrc, cname: cname, msid: msid)]
    guard let rtxSSRC, codecs.contains(where: \.isRTX) else { return }
    section.sources.append(SourceDescription(ssrc: rtxSSRC, cname: cname, msid: msid))
    section.sourceGroups = [SourceGroup(semantics: "FID", ssrcs: [ssrc, rtxSSRC])]
  }
}

/// Formats to offer, with the payload types that libwebrtc and LiveKit use for them. One number never stands for two
/// formats, since all sections of a bundle share one space (RFC 9143, 9.1).
public enum CodecCatalogue {
  /// What libwebrtc offers for video: REMB, transport-wide feedback, FIR, NACK and PLI.
  public static let videoFeedback = ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"]

  /// Stereo, with in-band forward error correction (RFC 7587).
  public static let opus = [
    Codec(
      payloadType: PayloadType(111), name: "opus", clockRate: 48_000, channels: 2, fmtp: "minptime=10;useinbandfec=1",
      feedback: ["transport-cc", "nack"])
  ]

  /// RED around `opus`, preferred to it (RFC 2198).
  public static let opusInRED =
    [Codec(payloadType: PayloadType(63), name: "red", clockRate: 48_000, channels: 2, fmtp: "111/111")] + opus

  /// VP8 with RTX, in the order of preference.
  public static func vp8(feedback: [String] = videoFeedback) -> [Codec] {
    video("VP8", 96, rtx: 97, fmtp: nil, feedback)
  }
  /// VP9 of profile 0 with RTX.
  public static func vp9(feedback: [String] = videoFeedback) -> [Codec] {
    video("VP9", 98, rtx: 99, fmtp: "profile-id=0", feedback)
  }
  /// - Parameter profileLevelID: six hex digits (RFC 6184, 8.1); the default is constrained baseline, level 3.1.
  public static func h264(profileLevelID: String = "42e01f", feedback: [String] = videoFeedback) -> [Codec] {
    video(
      "H264", 108, rtx: 109, fmtp: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=\(profileLevelID)",
      feedback)
  }
  /// H.265 with RTX.
  public static func h265(feedback: [String] = videoFeedback) -> [Codec] {
    video("H265", 116, rtx: 117, fmtp: nil, feedback)
  }
  /// AV1 with RTX.
  public static func av1(feedback: [String] = videoFeedback) -> [Codec] {
    video("AV1", 35, rtx: 36, fmtp: nil, feedback)
  }

  /// The formats of a codec by its SDP name; VP8 for one that is not here.
  public static func video(named name: String) -> [Codec] {
    switch name.uppercased() {
    case "VP9": vp9()
    case "H264": h264()
    case "H265": h265()
    case "AV1": av1()
    default: vp8()
    }
  }

  private static func video(_ name: String, _ number: UInt8, rtx: UInt8, fmtp: String?, _ feedback: [String]) -> [Codec]
  {
    [
      Codec(
        payloadType: PayloadType(number), name: name, clockRate: 90_000, fmtp: fmtp, feedback: feedback),
      Codec(payloadType: PayloadType(rtx), name: "rtx", clockRate: 90_000, fmtp: "apt=\(number)"),
    ]
  }

  /// Ids for the header extensions of an offer, the same in every section (RFC 8285, 6): position in this list plus one.
  public static func extensions(_ uris: [String]) -> [HeaderExtension] {
    uris.compactMap { uri in
      extensionOrder.firstIndex(of: uri).map { HeaderExtension(id: UInt16($0 + 1), uri: uri) }
    }
  }

  private static let extensionOrder = [
    HeaderExtensionURI.audioLevel, HeaderExtensionURI.absSendTime, HeaderExtensionURI.transportCC,
    HeaderExtensionURI.mid, HeaderExtensionURI.rtpStreamID, HeaderExtensionURI.repairedRTPStreamID,
    HeaderExtensionURI.absCaptureTime, HeaderExtensionURI.dependencyDescriptor, HeaderExtensionURI.playoutDelay,
    HeaderExtensionURI.videoOrientation, HeaderExtensionURI.timestampOffset,
  ]
}
