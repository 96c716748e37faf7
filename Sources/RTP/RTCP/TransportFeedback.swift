public import MediaCore

/// When packets arrived, by their transport-wide number (draft-holmer-rmcat-transport-wide-cc-extensions-01, 3.1).
public struct TransportFeedback: Sendable, Equatable {
  public var sender: SSRC
  public var media: SSRC
  public var firstSequence: SequenceNumber
  public var feedbackCount: UInt8
  /// In units of 64 ms; 24 bits.
  public var referenceTime: UInt32
  /// For each number from `firstSequence` on: 250 µs steps since the one received before (the first since the
  /// reference time), or nil when it did not arrive.
  public var deltas: [Int16?]

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

  private enum Symbol {
    static let lost: UInt16 = 0
    static let small: UInt16 = 1
    static let large: UInt16 = 2
  }

  init?(parsing bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= 20 else { return nil }
    let count = Int(bytes.load16(at: 14))
    guard let (symbols, deltaStart) = Self.symbols(bytes, count) else { return nil }
    var offset = deltaStart
    var deltas: [Int16?] = []
    deltas.reserveCapacity(symbols.count)
    for symbol in symbols {
      switch symbol {
      case Symbol.small:
        guard offset < bytes.count else { return nil }
        deltas.append(Int16(bytes[offset]))
        offset += 1
      case Symbol.large:
        guard offset + 2 <= bytes.count else { return nil }
        deltas.append(Int16(bitPattern: bytes.load16(at: offset)))
        offset += 2
      default: deltas.append(nil)
      }
    }
    self.init(
      sender: SSRC(bytes.load32(at: 4)), media: SSRC(bytes.load32(at: 8)),
      firstSequence: SequenceNumber(bytes.load16(at: 12)), feedbackCount: bytes[19],
      referenceTime: bytes.load32(at: 16) >> 8, deltas: deltas)
  }

  /// One symbol a packet, and where the deltas start. A run of many lost packets costs two bytes, so `count` bounds it.
  private static func symbols(_ bytes: UnsafeRawBufferPointer, _ count: Int) -> ([UInt16], Int)? {
    var symbols: [UInt16] = []
    symbols.reserveCapacity(count)
    var offset = 20
    while symbols.count < count {
      guard offset + 2 <= bytes.count else { return nil }
      let chunk = bytes.load16(at: offset)
      offset += 2
      let room = count - symbols.count
      if chunk & 0x8000 == 0 {
        symbols += repeatElement(chunk >> 13 & 3, count: min(Int(chunk & 0x1fff), room))
        if chunk & 0x1fff == 0 { return nil }
      } else if chunk & 0x4000 == 0 {
        symbols += (0..<14).prefix(room).map { chunk >> (13 - UInt16($0)) & 1 }
      } else {
        symbols += (0..<7).prefix(room).map { chunk >> (12 - 2 * UInt16($0)) & 3 }
      }
    }
    return (symbols, offset)
  }

  fileprivate var chunks: [UInt16] {
    let symbols = deltas.map { delta -> UInt16 in
      guard let delta else { return Symbol.lost }
      return (0...255).contains(delta) ? Symbol.small : Symbol.large
    }
    return stride(from: 0, to: symbols.count, by: 7).map { start in
      (0..<7).reduce(UInt16(0xc000)) { chunk, index in
        let symbol = start + index < symbols.count ? symbols[start + index] : Symbol.lost
        return chunk | symbol << (12 - 2 * UInt16(index))
      }
    }
  }
}

extension RTCPWriter {
  mutating func write(_ feedback: TransportFeedback) {
    self.feedback(205, 15, feedback.sender, feedback.media) { writer in
      writer.put(feedback.firstSequence.rawValue)
      writer.put(UInt16(clamping: feedback.deltas.count))
      writer.put((feedback.referenceTime & 0xff_ffff) << 8 | UInt32(feedback.feedbackCount))
      feedback.chunks.forEach { writer.put($0) }
      for case let delta? in feedback.deltas {
        if (0...255).contains(delta) { writer.put(UInt8(delta)) } else { writer.put(delta) }
      }
    }
  }
}
