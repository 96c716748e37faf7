/// The packets that one step gave, in the order in which they are to be handed on: nearly always none or one, and
/// then without an allocation.
public struct PacketBatch: Sequence, Sendable {
  /// The oldest packet; nil when there is none.
  public private(set) var first: RTPPacket?
  private var others: [RTPPacket] = []

  /// Without a packet.
  public init() {}
  /// Of one packet, without an allocation.
  public init(_ packet: RTPPacket) { first = packet }

  /// How many packets it holds.
  public var count: Int { first == nil ? 0 : 1 + others.count }
  /// Whether it holds none.
  public var isEmpty: Bool { first == nil }

  /// Puts a packet behind the others; an allocation from the second one on.
  public mutating func append(_ packet: RTPPacket) {
    if first == nil { first = packet } else { others.append(packet) }
  }

  /// Hands out the packets, the oldest first.
  public struct Iterator: IteratorProtocol {
    fileprivate let batch: PacketBatch
    fileprivate var index = 0

    /// The next packet; nil at the end.
    public mutating func next() -> RTPPacket? {
      defer { index += 1 }
      if index == 0 { return batch.first }
      return index <= batch.others.count ? batch.others[index - 1] : nil
    }
  }

  /// From the oldest on.
  public func makeIterator() -> Iterator { Iterator(batch: self) }
}
