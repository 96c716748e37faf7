import Glibc
import MediaCore

/// Estimates how much a way takes from what comes through it, by the receiver.
///
/// A queue on the way says that what comes is all that passes: the estimate falls below it, in small steps, since it is a
/// trend that senders heed. What passes without one raises it at once, as a probe does. That little comes says nothing.
struct IncomingBandwidth: Sendable {
  /// At each update at most by so much towards what comes.
  private static let largestStep = 0.93
  /// Below what comes only where the queue stays for so many updates, and with each by so much more, since what stands still
  /// is no trend; at most so far.
  private static let (patience, step, depth) = (5, 0.99, 0.5)
  /// The share of what passes that is told then, so that the queue gets shorter: that of Google's congestion control, and
  /// less after the second and third queue in a row. Layers vary, and one that fits in a quiet moment is tried in vain again
  /// and again where it does not fit on average.
  private static let shares = [0.85, 0.65, 0.5]
  /// A queue is another one after so long, and the first one again after so long.
  private static let (between, lately) = (Duration.seconds(2), Duration.seconds(60))
  /// A second, and up to so much more than what comes: nothing says that it does not pass.
  private static let (increase, ceiling) = (0.08, 1.1)
  /// The way is another one where so much more passes than when it was full.
  private static let relief = 1.5
  /// For so long after a queue it takes more than what passed then by so much, for longer than what a router lets through at
  /// once, to prove that there is more room.
  private static let (memory, more) = (Duration.seconds(20), 1.1)

  /// Bits a second; nil before some have come.
  private(set) var bitrate: Double?
  /// What passed when the way was full; nil while nothing says that it is narrow.
  private(set) var limit: Double?
  /// In how many updates there has been a queue.
  private var congested = 0
  /// How many queues that stayed there were of late, and when there was one last.
  private var (queues, stayed): (Int, MediaTime?) = (1, nil)
  private var queue = IncomingQueue()
  private var gaps = SequenceGaps()
  /// Twice as long as the shortest probe of LiveKit's server: what a router lets through at once is little of that.
  private var passed = SlowerRate(window: .milliseconds(400))
  private var passedLong = SlowerRate(window: .milliseconds(1600))
  /// The least and the most that passed when a queue stayed last, and when there was one last.
  private var full: (least: Double, most: Double, time: MediaTime)?
  /// What comes while there is a queue, and little from before it.
  private var coming = ByteRate(window: .milliseconds(200))
  private var lastUpdate: MediaTime?

  init() {}

  private init(after known: Self) {
    (bitrate, limit, full) = (known.bitrate, known.limit, known.full)
    (queues, stayed) = (known.queues, known.stayed)
  }

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
    let isKnownNarrow = limit != nil && stayed.map { time - $0 < Self.lately } ?? false
    let state = queue.update(loss: gaps.update(), isKnownNarrow: isKnownNarrow)
    congested = state == .congested ? congested + 1 : 0
    guard let passed = passed.rate(at: time) else { return }
    guard let bitrate else {
      self.bitrate = passed
      return
    }
    guard state != .congested else { return lower(from: bitrate, max(passed, coming.rate(at: time) ?? 0), at: time) }
    let raised = state == .clear ? min(bitrate * (1 + Self.increase * elapsed), passed * Self.ceiling) : bitrate
    let estimate = max(bitrate, min(max(raised, passed), room(at: time)))
    self.bitrate = estimate
    if let limit, estimate > limit * Self.relief { self.limit = nil }
  }

  /// As much as may be told where more passes.
  private mutating func room(at time: MediaTime) -> Double {
    guard let full, time - full.time < Self.memory else { return .infinity }
    let proved = passedLong.rate(at: time) ?? 0
    return proved > full.most * Self.more ? proved : full.least * share
  }

  /// Nothing is left of what was on the way, and the sender's clock may have begun anew.
  mutating func beginAnew() { self = IncomingBandwidth(after: self) }

  private mutating func lower(from bitrate: Double, _ coming: Double, at time: MediaTime) {
    let beyond = congested - Self.patience
    if beyond > 0 { stays(at: time, coming) } else { full = (full?.least ?? coming, full?.most ?? coming, time) }
    let share = beyond > 0 ? max(share * pow(Self.step, Double(beyond)), Self.depth) : 1
    self.bitrate = min(bitrate, max(bitrate * Self.largestStep, coming * share))
  }

  private var share: Double { Self.shares[min(queues, Self.shares.count) - 1] }

  /// Notes a queue that is no passing one: what a router lets through at once is behind it.
  private mutating func stays(at time: MediaTime, _ coming: Double) {
    let pause = stayed.map { time - $0 } ?? Self.lately
    let isAnother = pause > Self.between
    queues = pause < Self.lately ? queues + (isAnother ? 1 : 0) : 1
    let known = isAnother ? nil : full
    full = (min(coming, known?.least ?? coming), max(coming, known?.most ?? coming), time)
    (limit, stayed) = (full?.least, time)
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

  mutating func rate(at time: MediaTime) -> Double? {
    guard let newestSent, let sent = sent.rate(at: newestSent), let came = came.rate(at: time) else { return nil }
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
  private static let loss = 0.05
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
