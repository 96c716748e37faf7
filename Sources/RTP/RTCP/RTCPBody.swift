import MediaCore

/// The packet types we read and write (RFC 3550, 12.1; RFC 4585, 6.1).
enum RTCPType: UInt8 {
  case senderReport = 200
  case receiverReport = 201
  case sourceDescription = 202
  case goodbye = 203
  case transportFeedback = 205
  case payloadFeedback = 206
}

/// One packet of a compound: its header read, its padding cut off, its length known to be there.
struct RTCPBody {
  let type: RTCPType
  /// Report blocks, chunks, sources, or the feedback's format.
  let count: Int
  /// The packet from its header on.
  let bytes: UnsafeRawBufferPointer

  /// `bytes` hold at least a header.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let type = RTCPType(rawValue: bytes[1]) else { return nil }
    let padding = bytes[0] & 0x20 != 0 ? Int(bytes[bytes.count - 1]) : 0
    guard bytes.count - padding >= 4 else { return nil }
    self.type = type
    count = Int(bytes[0] & 31)
    self.bytes = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - padding)])
  }

  /// What each feedback message begins with (RFC 4585, 6.1).
  struct Parties {
    var sender: SSRC
    var media: SSRC
  }
  /// Where the feedback control information starts.
  static let feedbackStart = 12

  var parties: Parties? {
    guard bytes.count >= Self.feedbackStart else { return nil }
    return Parties(sender: SSRC(bytes.load32(at: 4)), media: SSRC(bytes.load32(at: 8)))
  }

  /// The offsets of whole entries of `size` bytes from `start` on.
  func entries(from start: Int, size: Int) -> StrideTo<Int> {
    stride(from: start, to: max(bytes.count - size + 1, start), by: size)
  }
}
