import MediaCore

/// Estimates how much a way takes from what comes through it, by the receiver.
///
/// A queue on the way says that what comes is all that passes: the estimate falls below it, in small steps, since it is a
/// trend that senders heed. What passes without one raises it at once, as a probe does. That little comes says nothing.
struct IncomingBandwidth: Sendable {
  /// At each update at most by so much towards what comes.
  private static let largestStep = 0.93
  /// Below what comes only where the queue stays for more updates than that, and with each by so much, since what stands
  /// still is no trend; not further below what passed while it stayed: who gives way sends less.
  private static let (patience, step, floor) = (5, 0.99, 0.25)
  /// It is said that the way is narrow after so many updates, where so much more is sent than comes, or some is lost.
  private static let (certainty, overload) = (15, 1.1)
  /// A second, and up to so much more than what comes: nothing says that it does not pass.
  private static let (increase, ceiling) = (0.08, 1.1)

  /// Bits a second; nil before some have come.
  private(set) var bitrate: Double?
  /// What passed when the way was full; nil while nothing says that it is narrow.
  private(set) var limit: Double?
  /// In how many updates there has been a queue.
  private var congested = 0
  private var queue = IncomingQueue()
  private var gaps = SequenceGaps()
  /// Twice as long as the shortest probe of LiveKit's server: what a router lets through at once is little of that.
  private var passed = SlowerRate(window: .milliseconds(400))
  private var passedLong = SlowerRate(window: .milliseconds(1600))
  private var full: FullWay?
  /// What comes while there is a queue, and little from before it.
  private var coming = ByteRate(window: .milliseconds(200))
  private var lastUpdate: MediaTime?

  init() {}

  private init(after known: Self) { (bitrate, limit, full) = (known.bitrate, known.limit, known.full) }

  /// - Parameter sent: by the sender's clock.
  mutating func note(_ packet: RTPPacket, sent: MediaTime, at time: MediaTime) {
    gaps.note(packet.sequenceNumber, of: packet.ssrc)
    queue.note(sent: sent, at: time)
    passed.add(packet.count, sent: sent, at: time)
    passedLong.add(packet.count, sent: sent, at: time)
    coming.add(packet.count, at: time)
  }

  mutating func update(at time: MediaTime) {
    let elapsed = min(lastUpdate.map { (time - $0).seconds } ?? 0, 1)
    lastUpdate = time
    if full?.isOver(at: time) == true { full = nil }
    let loss = gaps.update()
    let state = queue.update(loss: loss, isKnownNarrow: limit != nil && full != nil)
    congested = state == .congested ? congested + 1 : 0
    guard let passed = passed.rate(at: time) else { return }
    guard let bitrate else {
      self.bitrate = passed
      return
    }
    guard state != .congested else {
      lower(from: bitrate, max(passed, coming.rate(at: time) ?? 0), at: time)
      // Else the way is longer, or what it held back comes now.
      if congested >= Self.certainty, loss > IncomingQueue.loss || isMoreSent(at: time) { limit = full?.least }
      return
    }
    let proved = passedLong.rate(at: time) ?? 0
    let raised = state == .clear ? min(bitrate * (1 + Self.increase * elapsed), passed * Self.ceiling) : bitrate
    self.bitrate = max(bitrate, min(max(raised, passed), full?.headroom(at: time, proved: proved) ?? .infinity))
    if let limit, state == .clear, proved > limit * (full == nil ? 1 : FullWay.more) { self.limit = nil }
  }

  /// Nothing is left of what was on the way, and the sender's clock may have begun anew.
  mutating func beginAnew() { self = IncomingBandwidth(after: self) }

  private mutating func lower(from bitrate: Double, _ coming: Double, at time: MediaTime) {
    var target = coming
    if congested > Self.patience {
      var full = full ?? FullWay(coming, at: time)
      full.note(staying: coming, at: time)
      self.full = full
      target = max(min(coming * full.share, bitrate * Self.step), full.most * Self.floor)
    } else {
      full?.note(at: time)
    }
    self.bitrate = min(bitrate, max(bitrate * Self.largestStep, target))
  }

  /// Whether more is sent than comes.
  private mutating func isMoreSent(at time: MediaTime) -> Bool {
    guard let sent = passedLong.sentRate, let came = passedLong.cameRate(at: time) else { return false }
    return sent > came * Self.overload
  }
}

/// What passed when the way was full.
private struct FullWay: Sendable {
  /// By so much more has to pass to prove that there is more room.
  static let more = 1.25
  /// The share of what passes that is told, so that the queue gets shorter: that of Google's congestion control, and less
  /// after the second and third queue of late. Layers vary, and one that fits in a quiet moment is tried in vain again and
  /// again where it does not fit on average.
  private static let shares = [0.85, 0.65, 0.5]
  /// Where there was none for so long, a queue is another one; where none stayed for so long, nothing is left of it.
  private static let (pause, memory) = (Duration.seconds(2), Duration.seconds(60))
  /// For so long after a queue there is no more room, unless more passes for longer than what a router lets through at once.
  private static let caution = Duration.seconds(20)

  private(set) var least: Double
  private(set) var most: Double
  private var count = 1
  /// When there was a queue last, and when there was one that stayed.
  private var newest: MediaTime
  private var stayed: MediaTime

  init(_ bitrate: Double, at time: MediaTime) { (least, most, newest, stayed) = (bitrate, bitrate, time, time) }

  /// Notes a queue that may be a passing one.
  mutating func note(at time: MediaTime) { newest = time }

  /// Notes one that is not: what a router lets through at once is over.
  mutating func note(staying bitrate: Double, at time: MediaTime) {
    let isAnother = time - stayed > Self.pause
    if isAnother { count = min(count + 1, Self.shares.count) }
    (least, most) = isAnother ? (bitrate, bitrate) : (min(least, bitrate), max(most, bitrate))
    (newest, stayed) = (time, time)
  }

  var share: Double { Self.shares[count - 1] }

  func isOver(at time: MediaTime) -> Bool { time - stayed > Self.memory }

  /// As much as may be told.
  /// - Parameter proved: what passes.
  func headroom(at time: MediaTime, proved: Double) -> Double {
    guard time - newest < Self.caution else { return .infinity }
    return proved > most * Self.more ? proved : least * share
  }
}

/// The slower one of how fast something was sent and came: what is read late all at once has not passed so fast.
private struct SlowerRate: Sendable {
  private var sent: ByteRate
  private var came: ByteRate
  private var newestSent: MediaTime?

  init(window: Duration) { (sent, came) = (ByteRate(window: window), ByteRate(window: window)) }

  mutating func add(_ bytes: Int, sent time: MediaTime, at arrival: MediaTime) {
    sent.add(bytes, at: time)
    came.add(bytes, at: arrival)
    newestSent = time
  }

  /// By the sender's clock, up to what has come.
  var sentRate: Double? { mutating get { newestSent.flatMap { sent.rate(at: $0) } } }

  mutating func cameRate(at time: MediaTime) -> Double? { came.rate(at: time) }

  mutating func rate(at time: MediaTime) -> Double? {
    guard let sent = sentRate, let came = cameRate(at: time) else { return nil }
    return min(sent, came)
  }
}

/// Whether a queue grows on the way, or stands there: how much longer packets take than the fastest ones have.
private struct IncomingQueue: Sendable {
  enum State: Sendable { case clear, busy, congested }

  /// There is one from here on; so long it loses packets because it is full, or is one where there was one before; and so
  /// long it is one in any case.
  private static let (least, losing, long) = (
    Duration.milliseconds(25), Duration.milliseconds(80), Duration.milliseconds(400)
  )
  /// Ways lose some, too.
  static let loss = 0.05
  /// It grows where so many updates in a row get longer, but for a few, and by so much in all: delays that vary do not.
  private static let (run, share, growth) = (8, 0.85, Duration.milliseconds(15))
  /// What has been the same for so many updates is the way, which has become longer.
  private static let (steadyRun, steadiness) = (10, Duration.milliseconds(5))
  /// For how long the fastest packets are remembered, and once more. Clocks drift by some milliseconds meanwhile.
  private static let memory = Duration.seconds(30)

  /// From sending to arrival, by two clocks.
  private var fastest = Fastest()
  private var lengths: [Duration] = []

  private struct Fastest: Sendable {
    var newest: Duration?
    var current: Duration?
    var previous: Duration?
    var since: MediaTime?
  }

  mutating func note(sent: MediaTime, at time: MediaTime) {
    let taken = time - sent
    if let since = fastest.since, time - since > Self.memory {
      fastest = Fastest(newest: fastest.newest, previous: fastest.current)
    }
    fastest.since = fastest.since ?? time
    fastest.current = min(fastest.current ?? taken, taken)
    fastest.newest = min(fastest.newest ?? taken, taken)
  }

  /// Judges what came since the update before.
  /// - Parameters:
  ///   - loss: the share of packets that got lost of late.
  ///   - isKnownNarrow: whether the way was full of late, so that what takes long waits once more.
  mutating func update(loss: Double, isKnownNarrow: Bool) -> State {
    guard let newest = fastest.newest, let current = fastest.current else { return .clear }
    fastest.newest = nil
    let length = newest - min(current, fastest.previous ?? current)
    lengths = (lengths + [length]).suffix(Self.steadyRun)
    guard length > Self.least else { return .clear }
    if isSteady, loss < Self.loss {
      (fastest.current, fastest.previous, lengths) = (newest, nil, [])
      return .clear
    }
    let isFull = length > Self.losing && (loss > Self.loss || isKnownNarrow)
    return isFull || length > Self.long || isGrowing ? .congested : .busy
  }

  private var isSteady: Bool {
    guard lengths.count == Self.steadyRun, let least = lengths.min(), let most = lengths.max() else { return false }
    return most - least < Self.steadiness
  }

  /// By how many of all pairs get longer (Kendall's tau).
  private var isGrowing: Bool {
    let newest = Array(lengths.suffix(Self.run))
    guard newest.count == Self.run, newest[Self.run - 1] - newest[0] > Self.growth else { return false }
    var balance = 0
    for (index, length) in newest.enumerated() {
      for later in newest[(index + 1)...] { balance += later > length ? 1 : later < length ? -1 : 0 }
    }
    return Double(balance) >= Self.share * Double(Self.run * (Self.run - 1) / 2)
  }
}

/// The share of packets that are missing, by the numbers of their streams.
private struct SequenceGaps: Sendable {
  /// Of updates.
  private static let length = 10
  /// More is no gap but a stream that counts anew.
  private static let longest = 1000
  /// Nobody sends more streams; what does would take all memory.
  private static let streams = 1024

  private var highest: [SSRC: SequenceNumber] = [:]
  private var counts: [(lost: Int, expected: Int)] = [(0, 0)]

  mutating func note(_ number: SequenceNumber, of stream: SSRC) {
    let step = highest[stream].map { number.distance(from: $0) } ?? 1
    guard step > 0 else {
      // Sent again, or late.
      if step > -Self.longest { counts[counts.endIndex - 1].lost -= 1 } else { highest[stream] = number }
      return
    }
    if highest.count >= Self.streams { highest = [:] }
    highest[stream] = number
    guard step < Self.longest else { return }
    counts[counts.endIndex - 1].lost += step - 1
    counts[counts.endIndex - 1].expected += step
  }

  /// Of the last updates.
  mutating func update() -> Double {
    let (lost, expected) = counts.reduce((0, 0)) { ($0.0 + $1.lost, $0.1 + $1.expected) }
    if counts.count == Self.length { counts.removeFirst() }
    counts.append((0, 0))
    return expected > 0 ? Double(max(lost, 0)) / Double(expected) : 0
  }
}
