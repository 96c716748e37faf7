/// The packets that one step gave, in the order in which they are to be handed on: nearly always none or one, and
/// then without an allocation.
public struct PacketBatch: Sequence, Sendable {
  public private(set) var first: RTPPacket?
  private var others: [RTPPacket] = []

  public init() {}
  public init(_ packet: RTPPacket) { first = packet }

  public var count: Int { first == nil ? 0 : 1 + others.count }
  public var isEmpty: Bool { first == nil }

  public mutating func append(_ packet: RTPPacket) {
    if first == nil { first = packet } else { others.append(packet) }
  }

  public struct Iterator: IteratorProtocol {
    fileprivate let batch: PacketBatch
    fileprivate var index = 0

    public mutating func next() -> RTPPacket? {
      defer { index += 1 }
      if index == 0 { return batch.first }
      return index <= batch.others.count ? batch.others[index - 1] : nil
    }
  }

  public func makeIterator() -> Iterator { Iterator(batch: self) }
}
