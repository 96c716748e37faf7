public import MediaCore

/// When packets arrived, by their transport-wide number (draft-holmer-rmcat-transport-wide-cc-extensions-01, 3.1).
public struct TransportFeedback: Sendable, Equatable {
  /// The receiver that reports.
  public var sender: SSRC
  /// One of the streams whose packets it is about; the numbers are of the whole transport.
  public var media: SSRC
  /// The transport-wide number that `deltas` begins with.
  public var firstSequence: SequenceNumber
  /// One more for each message, around 256, so that lost ones are noticed.
  public var feedbackCount: UInt8
  /// In units of 64 ms; 24 bits.
  public var referenceTime: UInt32
  /// For each number from `firstSequence` on: 250 µs steps since the one received before (the first since the
  /// reference time), or nil when it did not arrive.
  public var deltas: [Int16?]

  /// - Parameter deltas: at most `limit` of them.
  public init(
    sender: SSRC, media: SSRC, firstSequence: SequenceNumber, feedbackCount: UInt8, referenceTime: UInt32,
    deltas: [Int16?]
  ) {
    self.sender = sender
    self.media = media
    self.firstSequence = firstSequence
    self.feedbackCount = feedbackCount
    self.referenceTime = referenceTime
    self.deltas = deltas
  }

  static let format = 15
  /// Packets that one message may report: two bytes can claim 8191 lost ones, so something has to bound the claims.
  public static let limit = 8192
  private static let chunksStart = 20

  init?(_ body: RTCPBody) {
    let bytes = body.bytes
    guard let parties = body.parties, bytes.count >= Self.chunksStart else { return nil }
    let count = Int(bytes.load16(at: 14))
    guard count <= Self.limit, let symbols = PacketStatus.parse(bytes, from: Self.chunksStart, count: count),
      let deltas = Self.deltas(of: symbols.statuses, bytes, from: symbols.end)
    else { return nil }
    self.init(
      sender: parties.sender, media: parties.media, firstSequence: SequenceNumber(bytes.load16(at: 12)),
      feedbackCount: bytes[19], referenceTime: bytes.load32(at: 16) >> 8, deltas: deltas)
  }

  private static func deltas(
    of statuses: [PacketStatus], _ bytes: UnsafeRawBufferPointer, from start: Int
  ) -> [Int16?]? {
    var offset = start
    var deltas: [Int16?] = []
    deltas.reserveCapacity(statuses.count)
    for status in statuses {
      guard offset + status.deltaLength <= bytes.count else { return nil }
      switch status {
      case .lost, .reserved: deltas.append(nil)
      case .small: deltas.append(Int16(bytes[offset]))
      case .large: deltas.append(Int16(bitPattern: bytes.load16(at: offset)))
      }
      offset += status.deltaLength
    }
    return deltas
  }

  func write(to writer: inout RTCPWriter) {
    let deltas = deltas.prefix(Self.limit)
    writer.feedback(.transportFeedback, format: Self.format, sender: sender, media: media) { writer in
      writer.put(firstSequence.rawValue)
      writer.put(UInt16(deltas.count))
      writer.put((referenceTime & 0xff_ffff) << 8 | UInt32(feedbackCount))
      for chunk in PacketStatus.chunks(deltas.map(PacketStatus.init)) { writer.put(chunk) }
      for case let delta? in deltas {
        if PacketStatus(delta) == .small { writer.put(UInt8(delta)) } else { writer.put(delta) }
      }
    }
  }
}
