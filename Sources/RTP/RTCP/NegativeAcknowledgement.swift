public import MediaCore

/// A request to send packets again (RFC 4585, 6.2.1).
public struct NegativeAcknowledgement: Sendable, Equatable {
  /// The receiver that asks.
  public var sender: SSRC
  /// The stream that has gaps.
  public var media: SSRC
  /// In ascending order they take the least space: up to 17 in four bytes.
  public var lost: [SequenceNumber]

  /// - Parameter lost: ascending; at most 2,048 are written.
  public init(sender: SSRC, media: SSRC, lost: [SequenceNumber]) {
    self.sender = sender
    self.media = media
    self.lost = lost
  }

  static let format = 1
  /// Numbers one request may name: more than any history holds, fewer than a hostile packet could list.
  static let limit = 2048

  init?(_ body: RTCPBody) {
    guard let parties = body.parties else { return nil }
    self.init(sender: parties.sender, media: parties.media, lost: [])
    for offset in body.entries(from: RTCPBody.feedbackStart, size: 4) where lost.count + 17 <= Self.limit {
      let first = SequenceNumber(body.bytes.load16(at: offset))
      let mask = body.bytes.load16(at: offset + 2)
      lost.append(first)
      for bit in 0..<16 where mask & (1 << UInt16(bit)) != 0 { lost.append(first + (bit + 1)) }
    }
  }

  func write(to writer: inout RTCPWriter) {
    writer.feedback(.transportFeedback, format: Self.format, sender: sender, media: media) { writer in
      var rest = lost.prefix(Self.limit)
      while let first = rest.popFirst() {
        var mask: UInt16 = 0
        while let next = rest.first, (1...16).contains(next.distance(from: first)) {
          mask |= 1 << UInt16(next.distance(from: first) - 1)
          rest.removeFirst()
        }
        writer.put(first.rawValue)
        writer.put(mask)
      }
    }
  }
}
