import MediaCore

/// "A picture could not be decoded" (RFC 4585, 6.3.1): in practice a request for a keyframe.
enum PictureLossIndication {
  static let format = 1

  static func parse(_ body: RTCPBody, into packets: inout [RTCPPacket]) {
    guard let parties = body.parties else { return }
    packets.append(.pictureLossIndication(sender: parties.sender, media: parties.media))
  }

  static func write(_ sender: SSRC, _ media: SSRC, to writer: inout RTCPWriter) {
    writer.feedback(.payloadFeedback, format: format, sender: sender, media: media) { _ in }
  }
}
