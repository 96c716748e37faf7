import MediaCore
import Testing

@testable import RTP

/// A server that sends frames over a link with a queue, and the receiver that tells it what passes: on virtual time.
private struct SimulatedServer {
  private static let extensionID: UInt8 = 3

  var feedback = BandwidthFeedback(sender: SSRC(1))
  /// Bits a second; nil for no limit.
  var capacity: Double?
  /// Bits that pass at once where nothing has passed before.
  var burst = 0.0
  /// What there is to send, in bits a second; padding beside it.
  var wanted = 1_500_000.0
  var padding = 0.0
  var loss = 0.0
  /// Milliseconds: of the way without a queue, how much that varies, and the longest queue.
  var (delay, jitter, longestQueue) = (25.0, 0.0, 300.0)
  var framesASecond = 25.0
  /// How much the way of a frame varies from that of others, and how much it is like that of the one before.
  var unevenness = (deviation: 0.0, likeness: 0.0)
  /// The sender's seconds are longer by this share.
  var drift = 0.0
  /// What comes before then is read then.
  var stalledUntil = 0.0
  private(set) var now = 100_000.0
  /// As they were told, with when.
  private(set) var told: [(time: Double, bitrate: Double)] = []
  private var random: SeededRandom
  private var number = SequenceNumber(65_000)
  private var freeAt = 0.0
  private var onTheWay: [(time: Double, packet: RTPPacket)] = []
  private var (nextFrame, nextAudio, owed, frameDelay, newest) = (0.0, 0.0, 0.0, 0.0, 0.0)

  init(seed: UInt64 = 1) {
    random = SeededRandom(seed: seed)
    feedback.extensionID = Self.extensionID
  }

  /// Over a way that has been full for 5 s.
  static func full(seed: UInt64, capacity: Double, wanted: Double = 1_500_000) -> Self {
    var link = Self(seed: seed)
    (link.capacity, link.wanted) = (capacity, wanted)
    link.run(seconds: 5)
    return link
  }

  mutating func run(seconds: Double) {
    let end = now + seconds * 1000
    while now < end {
      if now >= nextFrame { sendFrame() }
      if now >= nextAudio, unevenness.deviation == 0 {
        send(bytes: 90)
        nextAudio = now + 20
      }
      owed += padding / 8000
      while owed >= 280 {
        send(bytes: 280)
        owed -= 280
      }
      receive()
      now += 1
    }
  }

  /// What was told of late.
  func told(since time: Double) -> [Double] { told.filter { $0.time >= time }.map(\.bitrate) }

  private mutating func sendFrame() {
    nextFrame = now + 1000 / framesASecond
    let noise = unevenness.deviation * (0..<12).reduce(-6) { sum, _ in sum + Double.random(in: 0..<1, using: &random) }
    let likeness = unevenness.likeness
    frameDelay = likeness * frameDelay + (1 - likeness * likeness).squareRoot() * noise
    var left = Int(wanted / framesASecond / 8 * Double.random(in: 0.6...1.4, using: &random))
    while left > 0 {
      send(bytes: min(left, 1180))
      left -= 1180
    }
  }

  private mutating func send(bytes: Int) {
    // 6 bits of seconds, 18 behind the point.
    let sent = UInt32(truncatingIfNeeded: Int64(now * (1 + drift) / 1000 * 262_144)) & 0xff_ffff
    let packet = RTPPacket(
      payloadType: PayloadType(96), sequenceNumber: number, timestamp: 0, ssrc: SSRC(7),
      extensions: [(Self.extensionID, [UInt8(sent >> 16), UInt8(sent >> 8 & 255), UInt8(sent & 255)])],
      payload: [UInt8](repeating: 0, count: bytes))
    number = number.successor
    let start = max(freeAt, now - (capacity.map { burst / $0 * 1000 } ?? 0))
    guard start - now <= longestQueue, !random.chance(loss) else { return }
    freeAt = start + (capacity.map { Double(packet.count * 8) / $0 * 1000 } ?? 0)
    let varied = Double.random(in: 0...max(jitter, 0.001), using: &random) + abs(frameDelay)
    var arrival = max(freeAt, now) + delay + varied
    // Without jitter they keep their order.
    if jitter == 0 { arrival = max(arrival, newest) }
    newest = arrival
    onTheWay.append((arrival, packet))
  }

  private mutating func receive() {
    guard now >= stalledUntil else { return }
    onTheWay.sort { $0.time < $1.time }
    while let first = onTheWay.first, first.time <= now {
      onTheWay.removeFirst()
      feedback.note(first.packet, at: .ms(now))
    }
    for case .receiverEstimate(let remb) in roundTrip(feedback.poll(at: .ms(now), sources: [SSRC(7)])) {
      told.append((now, Double(remb.bitrate)))
    }
  }

  /// Whether LiveKit's server (1.13) would lower layers: by a dozen values within ten seconds, most of which fall, of
  /// which the last is less than what is sent.
  func isLowered(since time: Double) -> Bool {
    var samples: [(time: Double, bitrate: Double)] = []
    for value in told where value.time >= time {
      if let last = samples.last, last.bitrate == value.bitrate, value.time - last.time < 500 { continue }
      samples = (samples + [value]).suffix(12).filter { value.time - $0.time < 10_000 }
      let pairs = samples.indices.flatMap { first in samples[(first + 1)...].map { samples[first].bitrate - $0.bitrate }
      }
      let (falling, rising) = (pairs.count { $0 > 0 }, pairs.count { $0 < 0 })
      guard samples.count == 12, Double(falling - rising) > 0.6 * Double(falling + rising) else { continue }
      if value.bitrate < 0.95 * wanted { return true }
    }
    return false
  }
}

@Suite("Telling what a way to us takes")
struct BandwidthFeedbackTests {
  @Test(arguments: 0..<5)
  func aNarrowWayIsTold(seed: UInt64) throws {
    var link = SimulatedServer(seed: seed)
    link.run(seconds: 10)
    let begin = link.now
    link.capacity = 800_000
    link.run(seconds: 3)
    #expect(link.isLowered(since: begin), "\(link.told(since: begin))")
    let told = try #require(link.told.last?.bitrate)
    #expect((380_000...700_000).contains(told), "\(told)")
    let limit = try #require(link.feedback.limit)
    #expect((650_000...820_000).contains(limit), "\(limit)")
  }

  /// What repairs losses, and audio, has to pass beside what the server fits to the estimate.
  @Test(arguments: 0..<5)
  func notAllThatPassesIsTold(seed: UInt64) {
    var link = SimulatedServer.full(seed: seed, capacity: 300_000, wanted: 600_000)
    link.wanted = 150_000
    link.run(seconds: 1)
    let begin = link.now
    link.run(seconds: 15)
    let told = link.told(since: begin)
    #expect(told.allSatisfy { (140_000...270_000).contains($0) }, "\(told)")
    #expect(link.feedback.limit != nil)
  }

  /// A layer that fits now and then, and not on average, is not tried for ever.
  @Test(arguments: 0..<5)
  func whatIsTriedInVainIsToldLess(seed: UInt64) throws {
    var link = SimulatedServer.full(seed: seed, capacity: 300_000, wanted: 600_000)
    for _ in 0..<3 {
      link.wanted = 100_000
      link.run(seconds: 6)
      link.wanted = 450_000
      link.run(seconds: 4)
    }
    link.wanted = 140_000
    link.run(seconds: 10)
    let told = try #require(link.told.last?.bitrate)
    #expect((100_000...180_000).contains(told), "some half of it: \(told)")
    // Whoever tries once more finds out as soon.
    let begin = link.now
    link.wanted = 450_000
    link.run(seconds: 3)
    #expect(link.isLowered(since: begin), "\(link.told(since: begin))")
    // It may have got wider since.
    (link.wanted, link.capacity) = (100_000, nil)
    link.run(seconds: 25)
    link.wanted = 450_000
    link.run(seconds: 3)
    #expect(try #require(link.told.last).bitrate > 400_000)
  }

  @Test(arguments: 0..<5)
  func whatPassesAfterwardsEndsTheLimit(seed: UInt64) {
    var link = SimulatedServer.full(seed: seed, capacity: 500_000)
    (link.wanted, link.capacity) = (200_000, nil)
    link.run(seconds: 5)
    #expect(link.feedback.limit != nil)
    link.wanted = 1_500_000
    link.run(seconds: 5)
    #expect(link.feedback.limit == nil)
  }

  /// A server that gives way at once leaves an estimate that has not come down yet, and the way is as narrow as before.
  @Test(arguments: 0..<5)
  func theLimitStaysWhereTheServerGivesWay(seed: UInt64) {
    var link = SimulatedServer(seed: seed)
    link.wanted = 4_000_000
    link.run(seconds: 5)
    link.capacity = 300_000
    link.run(seconds: 2.5)
    #expect(link.feedback.limit != nil)
    link.wanted = 150_000
    link.run(seconds: 15)
    #expect(link.feedback.limit != nil)
  }

  /// As much as before, once the way is as wide as that.
  @Test(arguments: 0..<5)
  func aLimitEndsWithoutAProbe(seed: UInt64) {
    var link = SimulatedServer(seed: seed)
    link.run(seconds: 5)
    link.capacity = 1_200_000
    link.run(seconds: 5)
    #expect(link.feedback.limit != nil)
    link.capacity = nil
    link.run(seconds: 70)
    #expect(link.feedback.limit == nil)
  }

  /// Whoever gives way is not told of less because less comes.
  @Test(arguments: 0..<5)
  func littleThatComesLowersNothing(seed: UInt64) {
    var link = SimulatedServer(seed: seed)
    link.capacity = 800_000
    link.run(seconds: 3)
    link.wanted = 200_000
    link.run(seconds: 1)
    let begin = link.now
    link.run(seconds: 30)
    let told = link.told(since: begin)
    #expect(told.allSatisfy { (380_000...850_000).contains($0) }, "\(told)")
    #expect(told == told.sorted())
  }

  @Test(arguments: 0..<5, [0.8, 0.97])
  func aQueueThatStandsFullStaysTold(seed: UInt64, share: Double) throws {
    var link = SimulatedServer(seed: seed)
    link.run(seconds: 5)
    link.capacity = link.wanted * share
    link.run(seconds: 20)
    let begin = link.now
    link.run(seconds: 10)
    #expect(link.told(since: begin).allSatisfy { $0 < link.wanted * share * 1.05 }, "\(link.told(since: begin))")
  }

  /// A short one at once, a while after the way was full, and a long one before.
  @Test(arguments: 0..<5, [(pause: 25.0, length: 0.45), (10, 2)])
  func aProbeThatPassesIsTold(seed: UInt64, probe: (pause: Double, length: Double)) throws {
    var link = SimulatedServer.full(seed: seed, capacity: 500_000)
    (link.wanted, link.capacity) = (200_000, 3_000_000)
    link.run(seconds: probe.pause)
    #expect(try #require(link.told.last).bitrate < 600_000)
    let begin = link.now
    link.padding = 1_300_000
    link.run(seconds: probe.length)
    link.padding = 0
    link.run(seconds: 0.25)
    let told = link.told(since: begin)
    #expect(told.count >= 3 && (1_200_000...1_800_000).contains(told.max() ?? 0), "\(told)")
  }

  /// A router lets some pass at once.
  @Test(arguments: 0..<5)
  func whatPassesAtOnceIsNoProof(seed: UInt64) throws {
    var link = SimulatedServer(seed: seed)
    (link.capacity, link.burst) = (300_000, 40_000)
    link.wanted = 600_000
    link.run(seconds: 5)
    link.wanted = 150_000
    link.run(seconds: 3)
    for _ in 0..<4 {
      link.padding = 250_000
      link.run(seconds: 0.2)
      link.padding = 0
      link.run(seconds: 3)
      #expect(try #require(link.told.last).bitrate < 330_000, "\(link.told.map(\.bitrate))")
    }
  }

  @Test(arguments: 0..<5)
  func aProbeThatDoesNotPassIsNotBelieved(seed: UInt64) throws {
    var link = SimulatedServer.full(seed: seed, capacity: 500_000)
    link.wanted = 200_000
    link.run(seconds: 10)
    link.padding = 1_300_000
    link.run(seconds: 0.3)
    link.padding = 0
    link.run(seconds: 5)
    let told = try #require(link.told.last).bitrate
    #expect((240_000...520_000).contains(told), "\(told)")
  }

  // MARK: What is no narrow way

  @Test(arguments: 0..<5, [(0.0, 0.0), (0.1, 0), (0, 30), (0.05, 15)])
  func lossAndUnevennessLowerNothing(seed: UInt64, way: (loss: Double, jitter: Double)) throws {
    var link = SimulatedServer(seed: seed)
    (link.loss, link.jitter) = way
    link.run(seconds: 30)
    #expect(!link.isLowered(since: 0), "\(link.told.map(\.bitrate))")
    #expect(link.feedback.limit == nil)
    #expect(try #require(link.told.last).bitrate > 0.9 * link.wanted * (1 - way.loss))
  }

  /// A process that gets no processor reads much at once, late.
  @Test(arguments: 0..<5)
  func stallsOfOursLowerNothing(seed: UInt64) throws {
    var link = SimulatedServer(seed: seed)
    for _ in 0..<30 {
      link.stalledUntil = link.now + 300
      link.run(seconds: 1.5)
    }
    #expect(!link.isLowered(since: 0), "\(link.told.map(\.bitrate))")
    #expect(link.feedback.limit == nil)
    let told = try #require(link.told.last).bitrate
    #expect((1_400_000...3_500_000).contains(told), "\(told)")
  }

  /// As on Wi-Fi and mobile networks: a frame is late as a whole, and the next one as well.
  @Test(arguments: 0..<3, [(5.0, 20.0, 0.0), (15, 40, 0), (15, 20, 0.8), (25, 40, 0.8)])
  func unevenFramesLowerNothing(seed: UInt64, way: (framesASecond: Double, deviation: Double, likeness: Double)) {
    var link = SimulatedServer(seed: seed)
    if way.framesASecond < 25 { link.wanted = 300_000 }
    link.framesASecond = way.framesASecond
    link.unevenness = (way.deviation, way.likeness)
    link.run(seconds: 60)
    #expect(link.feedback.limit == nil)
    #expect(!link.isLowered(since: 0), "\(link.told.map(\.bitrate))")
  }

  /// By much more than a clock does, which would be a queue after some minutes.
  @Test(arguments: [-5e-4, 5e-4])
  func anotherClockLowersNothing(drift: Double) {
    var link = SimulatedServer()
    link.drift = drift
    link.run(seconds: 200)
    #expect(!link.isLowered(since: 0), "\(link.told.map(\.bitrate))")
  }

  @Test(arguments: [(100, 0), (100, 0.02), (450, 0)] as [(Double, Double)])
  func aLongerWayLowersNothing(longer: Double, loss: Double) {
    var link = SimulatedServer()
    link.loss = loss
    link.run(seconds: 20)
    link.delay += longer
    link.run(seconds: 40)
    #expect(link.feedback.limit == nil)
    #expect(!link.isLowered(since: 0), "\(link.told.map(\.bitrate))")
  }

  @Test func aLongPauseLowersNothing() throws {
    var link = SimulatedServer()
    link.run(seconds: 10)
    var other = SimulatedServer(seed: 2)
    other.run(seconds: 45)
    other.feedback = link.feedback
    let begin = other.now
    other.run(seconds: 20)
    #expect(!other.isLowered(since: begin), "\(other.told.map(\.bitrate))")
    #expect(try #require(other.told.last).bitrate > 1_400_000)
  }

  // MARK: What is told

  @Test func withoutTimesOrVideoNothingIsTold() {
    var link = SimulatedServer()
    link.feedback.extensionID = nil
    link.run(seconds: 2)
    #expect(link.told.isEmpty)
    var feedback = BandwidthFeedback(sender: SSRC(1))
    feedback.extensionID = 3
    let packet = RTPPacket(
      payloadType: PayloadType(96), sequenceNumber: SequenceNumber(1), timestamp: 0, ssrc: SSRC(7),
      extensions: [(3, [1, 2, 3])], payload: [UInt8](repeating: 0, count: 100))
    for number in 0..<100 {
      feedback.note(packet, at: .ms(Double(number) * 20))
      #expect(feedback.poll(at: .ms(Double(number) * 20), sources: []).isEmpty)
    }
  }

  @Test func itIsToldTenTimesASecond() {
    var link = SimulatedServer()
    link.run(seconds: 10)
    #expect((85...100).contains(link.told.count), "\(link.told.count)")
  }
}
