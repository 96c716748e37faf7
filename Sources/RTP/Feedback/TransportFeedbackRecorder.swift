public import MediaCore

/// Notes when packets of a peer connection arrive, by their transport-wide numbers, and reports it to the sender, which
/// estimates its bandwidth from it (draft-holmer-rmcat-transport-wide-cc-extensions-01).
public struct TransportFeedbackRecorder: Sendable {
  /// Numbers that are remembered: half a second of 8,000 packets a second.
  private static let length = 4096
  /// A message with this many arrivals stays under 1,200 bytes in any pattern of loss.
  private static let arrivalsPerMessage = 180
  private static let ticksPerReference: Int64 = 256

  private let sender: SSRC
  private let interval: Duration
  private var media = SSRC(0)
  /// In steps of 250 µs, by the low bits of the number; nil for what did not arrive.
  private var arrivals = [Int64?](repeating: nil, count: TransportFeedbackRecorder.length)
  private var highest: Int64?
  /// The first number of the next report.
  private var next: Int64 = 0
  private var nextReport: MediaTime?
  private var lastReport: MediaTime?
  private var feedbackCount: UInt8 = 0

  /// - Parameter interval: between two reports; senders expect 50 to 250 ms.
  public init(sender: SSRC, interval: Duration = .milliseconds(50)) {
    self.sender = sender
    self.interval = interval
  }

  /// Notes a packet by its transport-wide number; `media` is the stream that it belongs to.
  public mutating func record(_ number: SequenceNumber, media: SSRC, at time: MediaTime) {
    let tick = time.nanoseconds / 250_000
    if let highest {
      let step = number.distance(from: SequenceNumber(UInt16(truncatingIfNeeded: highest)))
      let extended = highest + Int64(step)
      guard step > 0 ? advance(from: highest, to: extended) : acceptsLate(extended, highest) else { return }
      arrivals[slot(extended)] = tick
    } else {
      begin(at: Int64(number.rawValue))
      arrivals[slot(Int64(number.rawValue))] = tick
    }
    self.media = media
    nextReport = nextReport ?? max(time, lastReport.map { $0 + interval } ?? time + interval)
  }

  private mutating func begin(at number: Int64) {
    for index in arrivals.indices { arrivals[index] = nil }
    highest = number
    next = number
  }

  private mutating func advance(from highest: Int64, to number: Int64) -> Bool {
    guard number - highest < Int64(Self.length) else {
      begin(at: number)
      return true
    }
    for skipped in (highest + 1)..<number { arrivals[slot(skipped)] = nil }
    self.highest = number
    next = max(next, number - Int64(Self.length) + 1)
    return true
  }

  /// A late packet was reported as lost: the next report begins with it and says again what followed.
  private mutating func acceptsLate(_ number: Int64, _ highest: Int64) -> Bool {
    guard number > highest - Int64(Self.length), arrivals[slot(number)] == nil else { return false }
    next = min(next, number)
    return true
  }

  private func slot(_ number: Int64) -> Int { Int(truncatingIfNeeded: number) & (Self.length - 1) }

  /// When a report is due; nil while there is nothing to say.
  public var nextDeadline: MediaTime? { nextReport }

  /// The reports that are due: usually none or one.
  public mutating func poll(at time: MediaTime) -> [RTCPPacket] {
    guard let nextReport, nextReport <= time, let highest else { return [] }
    self.nextReport = nil
    lastReport = time
    var messages: [RTCPPacket] = []
    while next <= highest {
      guard let message = makeMessage(upTo: highest) else { break }
      messages.append(.transportFeedback(message))
    }
    next = highest + 1
    return messages
  }

  private func firstArrival(upTo highest: Int64) -> Int64? {
    for number in next...highest {
      if let tick = arrivals[slot(number)] { return tick }
    }
    return nil
  }

  private mutating func makeMessage(upTo highest: Int64) -> TransportFeedback? {
    guard let first = firstArrival(upTo: highest) else { return nil }
    let reference = first / Self.ticksPerReference
    var last = reference * Self.ticksPerReference
    var deltas: [Int16?] = []
    var count = 0
    let start = next
    while next <= highest, count < Self.arrivalsPerMessage {
      if let tick = arrivals[slot(next)] {
        guard let delta = Int16(exactly: tick - last) else { break }
        deltas.append(delta)
        last = tick
        count += 1
      } else {
        deltas.append(nil)
      }
      next += 1
    }
    defer { feedbackCount &+= 1 }
    return TransportFeedback(
      sender: sender, media: media, firstSequence: SequenceNumber(UInt16(truncatingIfNeeded: start)),
      feedbackCount: feedbackCount, referenceTime: UInt32(truncatingIfNeeded: reference) & 0xff_ffff, deltas: deltas)
  }
}
