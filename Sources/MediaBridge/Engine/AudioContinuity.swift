import MediaCore
import RTP

/// What the decoder of a track's audio is to know of what was lost, and what not. Padding that a sender puts between
/// packets of audio takes numbers, but no time: left out it would look like a loss, and its loss like one of audio.
///
/// So the numbers go on without a gap behind it. For a gap, unless it was told of a loss, GStreamer's opusdec (1.22) begins
/// anew; with `use-inband-fec` it holds a packet back, loses count of it then, and is late by that packet ever after. Pure.
struct AudioContinuity {
  /// The newest packet as it came, and how much is in each, in ticks of its clock.
  private var newest: (number: SequenceNumber, timestamp: UInt32)?
  private var packetTicks: Int?
  /// Lost, before the next packet has come.
  private var lost: PacketSequencer.Gap?
  /// Of the newest packet, as it is handed on.
  private var number: SequenceNumber?

  /// Takes note of packets that do not come.
  mutating func lose(_ gap: PacketSequencer.Gap) {
    let before = lost?.count ?? 0
    lost = lost ?? gap
    lost?.count = before + gap.count
  }

  /// Takes the next packet that is not padding, and gives it its number in the packet's memory.
  /// - Returns: what is to be concealed before it: no more than there is time for.
  mutating func add(_ packet: inout RTPPacket) -> PacketSequencer.Gap? {
    let gap = takeLost(before: packet)
    measure(packet)
    number = number?.successor ?? packet.sequenceNumber
    if let number, number != packet.sequenceNumber { packet.rewrite(sequenceNumber: number) }
    return gap
  }

  /// A lost packet may have been padding, and padding that came may have the time of a lost packet.
  private mutating func takeLost(before packet: RTPPacket) -> PacketSequencer.Gap? {
    guard var gap = lost else { return nil }
    lost = nil
    let before = newest?.timestamp ?? gap.timestamps.before
    let ticks = Int(Int32(bitPattern: packet.timestamp &- before))
    gap.timestamps = (before, packet.timestamp)
    if let packetTicks { gap.count = min(gap.count, ticks / packetTicks - 1) }
    return gap.count > 0 ? gap : nil
  }

  private mutating func measure(_ packet: RTPPacket) {
    if let newest, newest.number.successor == packet.sequenceNumber {
      let ticks = Int(Int32(bitPattern: packet.timestamp &- newest.timestamp))
      if ticks > 0, ticks <= Self.longestPacket { packetTicks = ticks }
    }
    newest = (packet.sequenceNumber, packet.timestamp)
  }

  /// 120 ms at 48 kHz, of which Opus has no more in a packet (RFC 7587, 4.2).
  private static let longestPacket = 5760
}
