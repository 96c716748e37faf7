public import MediaCore

/// Makes one continuous stream of several that are sent one after the other: the layers of a simulcast track.
public struct StreamRewriter: Sendable {
  private struct Source {
    var id: SSRC
    var sequenceOffset: UInt16
    var timestampOffset: UInt32
    /// The switch's first packet; what is older was never meant for this stream.
    var first: SequenceNumber
  }

  private let clockRate: UInt32
  private var source: Source?
  private var newest: (sequence: SequenceNumber, timestamp: UInt32, at: MediaTime)?

  public init(clockRate: UInt32) { self.clockRate = clockRate }

  public var currentSource: SSRC? { source?.id }

  /// Numbers for a packet of `packet.ssrc`, or nil when it belongs to a stream that is not the current one or lies
  /// before the switch.
  /// - Parameter isSwitch: make this packet's stream the current one; the packet is to begin a keyframe.
  public mutating func rewrite(
    _ packet: RTPPacket, isSwitch: Bool, at time: MediaTime
  ) -> (sequence: SequenceNumber, timestamp: UInt32)? {
    if isSwitch && source?.id != packet.ssrc { change(to: packet, at: time) }
    guard let source, source.id == packet.ssrc, packet.sequenceNumber.distance(from: source.first) >= 0 || !isNear(packet)
    else { return nil }
    let sequence = SequenceNumber(packet.sequenceNumber.rawValue &+ source.sequenceOffset)
    let timestamp = packet.timestamp &+ source.timestampOffset
    if newest.map({ sequence.isAfter($0.sequence) }) ?? true { newest = (sequence, timestamp, time) }
    return (sequence, timestamp)
  }

  /// Where a timestamp of the current stream lies in the outgoing one; nil for another stream's.
  public func timestamp(_ timestamp: UInt32, of ssrc: SSRC) -> UInt32? {
    source.flatMap { $0.id == ssrc ? timestamp &+ $0.timestampOffset : nil }
  }

  /// After half the number space a comparison with the switch's first packet says nothing any more.
  private func isNear(_ packet: RTPPacket) -> Bool {
    guard let source, let newest else { return true }
    let sinceSwitch = newest.sequence.rawValue &- source.sequenceOffset
    return SequenceNumber(sinceSwitch).distance(from: source.first) < 0x1000
  }

  private mutating func change(to packet: RTPPacket, at time: MediaTime) {
    guard let newest else {
      source = Source(id: packet.ssrc, sequenceOffset: 0, timestampOffset: 0, first: packet.sequenceNumber)
      return
    }
    // One number is left out, so that a late packet of the old stream is not taken for one of the new.
    let next = newest.sequence.rawValue &+ 1
    let elapsed = max(1, (time - newest.at).nanoseconds * Int64(clockRate) / 1_000_000_000)
    let timestamp = newest.timestamp &+ UInt32(truncatingIfNeeded: elapsed)
    source = Source(
      id: packet.ssrc, sequenceOffset: next &- packet.sequenceNumber.rawValue,
      timestampOffset: timestamp &- packet.timestamp, first: packet.sequenceNumber)
  }
}
