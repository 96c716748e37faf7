public import MediaCore

/// Collects arrivals by transport-wide number and packs them into feedback.
public struct TransportFeedbackRecorder: Sendable {
  private static let interval = Duration.milliseconds(50)
  /// A single feedback reaches this far; a larger hole starts anew.
  private static let spanLimit = 1000

  private let sender: SSRC
  private var media = SSRC(0)
  private var unwrapper = SequenceUnwrapper()
  private var arrivals: [(number: Int64, time: MediaTime)] = []
  private var next: Int64?
  private var lastSent: MediaTime?
  private var count: UInt8 = 0

  public init(sender: SSRC) { self.sender = sender }

  public mutating func record(_ sequence: SequenceNumber, media: SSRC, at time: MediaTime) {
    self.media = media
    arrivals.append((unwrapper.unwrap(sequence.rawValue), time))
  }

  /// The feedback that is due, if any.
  public mutating func poll(at time: MediaTime) -> [RTCPPacket] {
    guard !arrivals.isEmpty, lastSent.map({ time - $0 >= Self.interval }) ?? true else { return [] }
    lastSent = time
    arrivals.sort { $0.number < $1.number }
    defer { arrivals.removeAll(keepingCapacity: true) }
    guard let last = arrivals.last?.number else { return [] }
    var first = next ?? arrivals[0].number
    if last - first >= Int64(Self.spanLimit) || first > last { first = arrivals[0].number }
    next = last + 1
    let fresh = arrivals.filter { $0.number >= first && $0.number - first < Int64(Self.spanLimit) }
    guard let earliest = fresh.first else { return [] }
    return [.transportFeedback(make(fresh, first: first, reference: earliest.time))]
  }

  private mutating func make(
    _ arrivals: [(number: Int64, time: MediaTime)], first: Int64, reference: MediaTime
  ) -> TransportFeedback {
    let referenceUnits = reference.nanoseconds / 64_000_000
    var previous = referenceUnits * 256
    var deltas: [Int16?] = []
    for (number, time) in arrivals {
      while Int64(deltas.count) < number - first { deltas.append(nil) }
      guard Int64(deltas.count) == number - first else { continue }
      let ticks = time.nanoseconds / 250_000
      let delta = Int16(clamping: ticks - previous)
      deltas.append(delta)
      previous += Int64(delta)
    }
    defer { count &+= 1 }
    return TransportFeedback(
      sender: sender, media: media, firstSequence: SequenceNumber(UInt16(truncatingIfNeeded: first)),
      feedbackCount: count, referenceTime: UInt32(truncatingIfNeeded: referenceUnits) & 0xff_ffff, deltas: deltas)
  }
}
