public import MediaCore

/// Lets packets go at the pace that the link is believed to carry, the most important ones first: what comes at once, such
/// as a keyframe, would overflow a queue on the way, and take the packets of others with it. Pure.
public struct Pacer<Packet: Sendable>: Sendable {
  /// Which of the packets that wait goes first. Audio does not wait at all.
  public enum Priority: Sendable, Equatable {
    /// It was lost, and what came after it is of no use without it.
    case again
    /// Of a layer of video: its place in its track, from the smallest on.
    case layer(Int)

    fileprivate var place: Int {
      switch self {
      case .again: 0
      case .layer(let rank): 1 + max(0, rank)
      }
    }
  }

  /// Faster than what the link carries on average, so that a keyframe is not late, and that what comes back is tried.
  private static var pace: Double { 1.5 }
  /// The same of what is sent, while nothing is known of the link, as libwebrtc has it.
  private static var unknownPace: Double { 2.5 }
  /// What would wait for longer goes faster, and the link has to tell that it is too much.
  private static var longestWait: Duration { .milliseconds(400) }
  /// So much goes at once.
  private static var burst: Duration { .milliseconds(5) }
  /// The same while nothing is known of the link: an ordinary frame waits for nothing then.
  private static var unknownBurst: Duration { .milliseconds(40) }

  private struct Waiting: Sendable {
    var packet: Packet
    var bytes: Int
    var ssrc: SSRC
  }

  /// Packets of one priority.
  private struct Line: Sendable {
    private var waiting: [Waiting] = []
    /// What is before has gone.
    private var first = 0

    var isEmpty: Bool { first == waiting.count }
    var bytes: Int { waiting[first...].reduce(0) { $0 + $1.bytes } }

    mutating func append(_ new: Waiting) {
      // A line that never ends takes no more memory for it.
      if first > 64, first * 2 > waiting.count {
        waiting.removeFirst(first)
        first = 0
      }
      waiting.append(new)
    }

    mutating func removeFirst() -> Waiting {
      defer {
        first += 1
        if isEmpty {
          waiting.removeAll(keepingCapacity: true)
          first = 0
        }
      }
      return waiting[first]
    }

    mutating func drop(_ ssrc: SSRC) {
      waiting = waiting[first...].filter { $0.ssrc != ssrc }
      first = 0
    }
  }

  /// By priority.
  private var lines: [Line] = []
  private var bytes = 0
  /// Bits a second; nil while nothing is known of the link, nor of what is sent.
  private var rate: Double?
  private var burst = Self.burst
  /// Bytes; below 0 after a packet that was larger.
  private var credit = 0.0
  private var updated: MediaTime?

  /// Nothing waits yet.
  public init() {}

  /// Whether nothing waits.
  public var isEmpty: Bool { bytes == 0 }

  /// Takes over what the link is believed to carry. Where nothing has been too much so far, what is sent at the most sets the
  /// pace, so that the first keyframes of all layers do not overflow it.
  /// - Parameter sent: bits a second; 0 lets all go at once while nothing is known of the link.
  public mutating func pace(to estimate: LinkEstimate, sending sent: Int) {
    let isKnown = estimate.limit != .none
    burst = isKnown ? Self.burst : Self.unknownBurst
    rate = isKnown ? Double(estimate.bitrate) * Self.pace : sent > 0 ? Double(sent) * Self.unknownPace : nil
  }

  /// Has a packet wait for its turn, which may be now.
  /// - Parameter bytes: on the link.
  public mutating func push(_ packet: Packet, of ssrc: SSRC, bytes: Int, _ priority: Priority) {
    while lines.count <= priority.place { lines.append(Line()) }
    lines[priority.place].append(Waiting(packet: packet, bytes: bytes, ssrc: ssrc))
    self.bytes += bytes
  }

  /// Notes what goes without waiting.
  /// - Parameter bytes: on the link.
  public mutating func pass(bytes: Int, at time: MediaTime) {
    earn(until: time)
    credit -= Double(bytes)
  }

  /// The next packet that may go at `time`; nil where none waits, or all have to.
  public mutating func pop(at time: MediaTime) -> Packet? {
    earn(until: time)
    guard !isEmpty, rate == nil || credit >= 0 else { return nil }
    guard let place = lines.firstIndex(where: { !$0.isEmpty }) else { return nil }
    let next = lines[place].removeFirst()
    bytes -= next.bytes
    credit -= Double(next.bytes)
    return next.packet
  }

  /// How long it takes until the next packet may go; nil where none waits.
  public func delay(at time: MediaTime) -> Duration? {
    guard !isEmpty else { return nil }
    guard let rate = fastest, let updated else { return .zero }
    let missing = -credit(after: (time - updated).seconds, rate)
    return max(.zero, .seconds(missing * 8 / rate))
  }

  /// Throws away what waits of a stream that is not sent any more.
  public mutating func drop(_ ssrc: SSRC) {
    for place in lines.indices { lines[place].drop(ssrc) }
    bytes = lines.reduce(0) { $0 + $1.bytes }
  }

  /// The pace at which nothing that waits now is too late.
  private var fastest: Double? { rate.map { max($0, Double(bytes * 8) / Self.longestWait.seconds) } }

  private mutating func earn(until time: MediaTime) {
    let elapsed = updated.map { max(0, (time - $0).seconds) } ?? 0
    updated = max(time, updated ?? time)
    credit = fastest.map { credit(after: elapsed, $0) } ?? 0
  }

  /// What goes without waiting, such as audio while next to nothing passes, makes no debt that holds up the rest for longer
  /// than anything waits.
  private func credit(after elapsed: Double, _ rate: Double) -> Double {
    let owed = max(credit, -rate / 8 * Self.longestWait.seconds)
    return min(owed + rate / 8 * elapsed, rate / 8 * burst.seconds)
  }
}
