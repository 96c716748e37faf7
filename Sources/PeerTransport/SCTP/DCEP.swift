/// The data channel establishment protocol (RFC 8832).
enum DCEP {
  static let protocolID: UInt32 = 50
  static let ack: [UInt8] = [2]

  /// Pion, and with it LiveKit's server, pads it to four bytes.
  static func isAck(_ bytes: [UInt8]) -> Bool { bytes.first == ack[0] }

  struct Open: Equatable {
    var isOrdered: Bool
    var maxRetransmits: UInt32?
    var label: String
  }

  static func serialize(_ open: Open) -> [UInt8] {
    let label = Array(open.label.utf8.prefix(Int(UInt16.max)))
    let type: UInt8 = (open.isOrdered ? 0 : 0x80) | (open.maxRetransmits == nil ? 0 : 1)
    let reliability = open.maxRetransmits ?? 0
    var bytes: [UInt8] = [3, type, 0, 0]
    bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: reliability >> $0) }
    bytes += [UInt8(label.count >> 8), UInt8(label.count & 0xff), 0, 0]
    return bytes + label
  }

  /// nil for what is not a DATA_CHANNEL_OPEN message.
  static func parseOpen(_ bytes: [UInt8]) -> Open? {
    guard bytes.count >= 12, bytes[0] == 3 else { return nil }
    let labelLength = Int(bytes[8]) << 8 | Int(bytes[9])
    guard bytes.count >= 12 + labelLength else { return nil }
    let reliability = bytes[4..<8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return Open(
      isOrdered: bytes[1] & 0x80 == 0, maxRetransmits: bytes[1] & 0x7f == 1 ? reliability : nil,
      label: String(decoding: bytes[12..<(12 + labelLength)], as: UTF8.self))
  }
}
