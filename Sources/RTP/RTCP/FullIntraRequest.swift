import MediaCore

/// A command to send a keyframe (RFC 5104, 4.3.1): each entry names its stream, the header's field is unused.
enum FullIntraRequest {
  static let format = 4

  static func parse(_ body: RTCPBody, into packets: inout [RTCPPacket]) {
    guard let parties = body.parties else { return }
    for offset in body.entries(from: RTCPBody.feedbackStart, size: 8) {
      packets.append(
        .fullIntraRequest(
          sender: parties.sender, media: SSRC(body.bytes.load32(at: offset)), command: body.bytes[offset + 4]))
    }
  }

  static func write(_ sender: SSRC, _ media: SSRC, _ command: UInt8, to writer: inout RTCPWriter) {
    writer.feedback(.payloadFeedback, format: format, sender: sender, media: SSRC(0)) { writer in
      writer.put(media)
      writer.put(UInt32(command) << 24)
    }
  }
}
