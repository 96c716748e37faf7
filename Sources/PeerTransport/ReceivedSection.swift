import Bitstream
public import MediaCore
public import RTP
public import SDP

extension RTPReceiver.Configuration {
  /// A stream of a negotiated section, in any of its formats.
  public init(_ section: NegotiatedSection, ssrc: SSRC?, rtx: SSRC?, clockRate: UInt32? = nil) {
    var formats: [PayloadType: RTPReceiver.Format] = [:]
    for format in section.formats {
      formats[format.payloadType] = RTPReceiver.Format(format.codec)
      if let repair = format.rtx { formats[repair] = .retransmission(of: format.payloadType) }
    }
    self.init(
      ssrc: ssrc, rtxSSRC: rtx, clockRate: clockRate ?? section.formats.first?.codec.clockRate ?? 90_000,
      formats: formats,
      usesNACK: section.kind == .video || section.formats.contains { $0.codec.feedback.contains("nack") })
  }
}

extension RTPReceiver.Format {
  /// What packets of a codec's payload type are.
  fileprivate init(_ codec: Codec) {
    self = codec.isRED ? .redundant : VideoCodec(encodingName: codec.name).map(Self.video) ?? .media
  }
}
