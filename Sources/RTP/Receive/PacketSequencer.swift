public import MediaCore

/// A packet and when it came.
public struct ArrivedPacket: Sendable {
  /// As it was handed on by its receiver.
  public var packet: RTPPacket
  /// When it came from the network.
  public var time: MediaTime

  /// - Parameter time: when the packet came.
  public init(_ packet: RTPPacket, at time: MediaTime) { (self.packet, self.time) = (packet, time) }
}

/// Puts packets back in their order. What comes in order goes on at once; only behind a gap packets wait, until it is
/// filled or has been waited for long enough.
///
/// Pure: packets and times go in, packets in order come out. Whoever feeds it calls `skip` when `deadline` has passed,
/// and `restart` where what comes has nothing to do with what came before.
public struct PacketSequencer: Sendable {
  /// Packets that were waited for in vain.
  public struct Gap: Equatable, Sendable {
    /// The number of the first of them.
    public var first: SequenceNumber
    /// How many they are.
    public var count: Int
    /// RTP timestamps of the packets before and behind them.
    public var timestamps: (before: UInt32, behind: UInt32)

    /// Whether both are of the same packets.
    public static func == (one: Gap, other: Gap) -> Bool {
      (one.first, one.count) == (other.first, other.count) && one.timestamps == other.timestamps
    }
  }

  /// The number that it waits for; nil before the first packet.
  public private(set) var next: SequenceNumber?
  /// Of the packet that went on last.
  private var timestamp: UInt32 = 0
  /// What came behind a gap, in order.
  private var held: [ArrivedPacket] = []

  /// The first packet begins the order.
  public init() {}

  /// How many packets wait for a missing one.
  public var waiting: Int { held.count }

  /// Takes a packet; what goes on now is appended to `ready`. One that comes after it was given up is dropped.
  public mutating func insert(_ arrived: ArrivedPacket, into ready: inout [ArrivedPacket]) {
    let number = arrived.packet.sequenceNumber
    let ahead = next.map { number.distance(from: $0) } ?? 0
    guard ahead >= 0 else { return }
    guard ahead == 0 else { return hold(arrived) }
    pass(arrived, into: &ready)
    if !held.isEmpty { release(into: &ready) }
  }

  /// When it will have waited long enough for a missing packet; nil while nothing waits.
  /// - Parameter wait: from when the gap was seen.
  public func deadline(wait: Duration) -> MediaTime? { held.first.map { $0.time + wait } }

  /// Gives a gap up that was waited for long enough, and appends what follows it to `ready`; once for each gap.
  /// - Returns: nil when there is none.
  public mutating func skip(at time: MediaTime, wait: Duration, into ready: inout [ArrivedPacket]) -> Gap? {
    guard let deadline = deadline(wait: wait), deadline <= time, let next, let first = held.first?.packet else {
      return nil
    }
    let gap = Gap(
      first: next, count: Int(first.sequenceNumber.distance(from: next)), timestamps: (timestamp, first.timestamp))
    self.next = first.sequenceNumber
    release(into: &ready)
    return gap
  }

  /// The number at which a frame begins of which every packet waits; nil where none does.
  /// - Parameter begins: whether such a frame begins with a packet.
  public func wholeFrame(_ begins: (RTPPacket) -> Bool) -> SequenceNumber? {
    var begin: SequenceNumber?
    var last: SequenceNumber?
    for arrived in held {
      let (packet, number) = (arrived.packet, arrived.packet.sequenceNumber)
      if begin == nil || last?.successor != number { begin = begins(packet) ? number : nil }
      if let begin, packet.marker { return begin }
      last = number
    }
    return nil
  }

  /// Lets all go that waits, and begins anew with the next packet.
  public mutating func restart(into ready: inout [ArrivedPacket]) {
    ready += held
    held.removeAll()
    next = nil
  }

  private mutating func pass(_ arrived: ArrivedPacket, into ready: inout [ArrivedPacket]) {
    next = arrived.packet.sequenceNumber.successor
    timestamp = arrived.packet.timestamp
    ready.append(arrived)
  }

  private mutating func hold(_ arrived: ArrivedPacket) {
    let number = arrived.packet.sequenceNumber
    var index = held.count
    while index > 0, held[index - 1].packet.sequenceNumber.distance(from: number) > 0 { index -= 1 }
    let isThere = index > 0 && held[index - 1].packet.sequenceNumber == number
    if !isThere { held.insert(arrived, at: index) }
  }

  private mutating func release(into ready: inout [ArrivedPacket]) {
    var count = 0
    while count < held.count, held[count].packet.sequenceNumber == next {
      pass(held[count], into: &ready)
      count += 1
    }
    held.removeFirst(count)
  }
}
