import MediaCore

/// Where the outgoing stream stands.
struct RewriterOutput: Sendable {
  private let clockRate: UInt32
  /// The highest number given out; before the first packet the one before it.
  private(set) var highest: Int64
  private(set) var frame: RewriterSegment.Frame?
  /// The timestamp of the highest number and when its first packet came.
  private var newest: (timestamp: UInt32, arrival: MediaTime)?

  init(clockRate: UInt32, first: SequenceNumber) {
    self.clockRate = clockRate
    highest = Int64(first.rawValue) - 1
  }

  /// Of the highest number; nil before the first packet.
  var timestamp: UInt32? { newest?.timestamp }

  mutating func note(_ number: Int64, timestamp: UInt32, frame: RewriterSegment.Frame?, at time: MediaTime) {
    guard number > highest else { return }
    highest = number
    if let frame { self.frame = frame }
    if newest?.timestamp != timestamp { newest = (timestamp, time) }
  }

  /// The timestamp for the first packet of another stream: `expected` where the layers' clocks are known and it is
  /// credible, else by the time that has passed.
  func timestamp(expected: UInt32?, of packet: RTPPacket, at time: MediaTime) -> UInt32 {
    guard let newest else { return packet.timestamp }
    let elapsed = Int64(max(0, (time - newest.arrival).seconds) * Double(clockRate))
    let byArrival = newest.timestamp &+ UInt32(truncatingIfNeeded: elapsed)
    guard let expected, Int32(bitPattern: expected &- byArrival).magnitude < clockRate else { return byArrival }
    return expected
  }

  /// `timestamp`, or a millisecond after the newest if it is not later: two frames must not share one.
  func following(_ timestamp: UInt32) -> UInt32 {
    guard let newest else { return timestamp }
    let step = max(1, clockRate / 1000)
    return Int32(bitPattern: timestamp &- newest.timestamp) >= Int32(clamping: step)
      ? timestamp : newest.timestamp &+ step
  }
}
