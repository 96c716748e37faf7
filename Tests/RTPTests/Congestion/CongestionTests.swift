import MediaCore
import Testing

@testable import RTP

/// A sender of video behind a link of a given capacity with a queue, and a receiver that reports: on virtual time.
private struct SimulatedSender {
  enum Reports { case arrivals, receptions }

  var controller = DelayAndLossController()
  /// Bits a second; nil for no limit.
  var capacity: Double?
  /// Bits that pass at once where nothing has passed before.
  var burst = 0.0
  var loss = 0.0
  /// Of messages on the way back.
  var lostFeedback = 0.0
  /// What there is to send, in bits a second.
  var wanted = 2_500_000.0
  /// From one message about arrivals to the next one, in milliseconds; 0 for as soon as there is one.
  var pause = 0.0
  /// What the receiver's clock is ahead, in units of 64 ms.
  var ahead: UInt32 = 4000
  private(set) var now = 1000.0
  private(set) var lastSent = 0.0
  private let reports: Reports
  private var random: SeededRandom
  private var recorder = TransportFeedbackRecorder(sender: SSRC(2))
  private var next = SequenceNumber(65_000)
  private var freeAt = 1000.0
  private var forward: [(time: Double, number: SequenceNumber)] = []
  private var back: [(time: Double, packet: RTCPPacket)] = []
  private var counts = (sent: 0, received: 0, reported: 1000.0)
  private let delay = 25.0
  private let longestQueue = 250.0

  init(_ reports: Reports, seed: UInt64 = 1) {
    self.reports = reports
    random = SeededRandom(seed: seed)
  }

  /// What an application gives its encoders.
  var target: Double {
    let estimate = controller.estimate
    return estimate.limit == .none ? wanted : min(wanted, Double(estimate.bitrate))
  }

  /// - Returns: the average of what was sent, in bits a second.
  @discardableResult
  mutating func run(seconds: Double) -> Double {
    let end = now + seconds * 1000
    var bytes = 0
    var nextFrame = now
    while now < end {
      if now >= nextFrame {
        bytes += sendFrame()
        nextFrame += 40
      }
      while let missing = controller.missingPadding(at: .ms(now)), missing > 0 { send(bytes: 280) }
      receive()
      now += 1
      if Int(now) % 100 == 0 { controller.advance(to: .ms(now)) }
    }
    lastSent = Double(bytes) * 8 / seconds
    return lastSent
  }

  private mutating func sendFrame() -> Int {
    let size = Int(target / 25 / 8 * Double.random(in: 0.7...1.3, using: &random))
    var left = size
    while left > 0 {
      let bytes = min(left, 1180)
      left -= bytes
      send(bytes: bytes)
    }
    return size
  }

  private mutating func send(bytes: Int) {
    controller.sent(bytes: bytes, number: reports == .arrivals ? next : nil, at: .ms(now))
    counts.sent += 1
    let onLink = Double((bytes + LinkEstimate.overhead) * 8)
    let start = max(freeAt, now - (capacity.map { burst / $0 * 1000 } ?? 0))
    if start - now <= longestQueue, !random.chance(loss) {
      freeAt = start + (capacity.map { onLink / $0 * 1000 } ?? 0)
      forward.append((max(freeAt, now) + delay, next))
    }
    next = next.successor
  }

  /// - Returns: what has passed, in bits a second.
  mutating func probe(_ bitrate: Int) -> Int? {
    let before = controller.estimate.probes?.count
    controller.probe(bitrate, at: .ms(now))
    run(seconds: 2)
    let probes = controller.estimate.probes
    return probes?.count == before ? nil : probes?.passed
  }

  private mutating func receive() {
    while let first = forward.first, first.time <= now {
      forward.removeFirst()
      recorder.record(first.number, media: SSRC(1), at: .ms(first.time))
      counts.received += 1
    }
    switch reports {
    case .arrivals:
      guard now - counts.reported >= pause else { break }
      counts.reported = now
      for packet in recorder.poll(at: .ms(now)) { answer(ahead(packet)) }
    case .receptions:
      guard now - counts.reported >= 1000 else { break }
      counts.reported = now
      let block = ReportBlock(
        ssrc: SSRC(1), fractionLost: 0, cumulativeLost: counts.sent - counts.received - forward.count,
        highestSequence: UInt32(counts.sent - forward.count), jitter: 0, lastSenderReport: 0,
        delaySinceLastSenderReport: 0)
      answer(.receiverReport(ReceiverReport(ssrc: SSRC(2), blocks: [block])))
    }
    while let first = back.first, first.time <= now {
      back.removeFirst()
      controller.receive(first.packet, at: .ms(now))
    }
  }

  private func ahead(_ packet: RTCPPacket) -> RTCPPacket {
    guard case .transportFeedback(var feedback) = packet else { return packet }
    feedback.referenceTime = (feedback.referenceTime &+ ahead) & 0xff_ffff
    return .transportFeedback(feedback)
  }

  private mutating func answer(_ packet: RTCPPacket) {
    guard !random.chance(lostFeedback) else { return }
    back += roundTrip([packet]).map { (now + delay, $0) }
  }
}

@Suite("Fitting what is sent to the link")
struct CongestionTests {
  @Test(arguments: 0..<5)
  func aWideLinkLimitsNothing(seed: UInt64) {
    var sender = SimulatedSender(.arrivals, seed: seed)
    sender.run(seconds: 30)
    #expect(sender.controller.estimate.limit == .none)
    // Nothing is believed that was not tried.
    #expect((2_500_000...4_500_000).contains(sender.controller.estimate.bitrate))
  }

  @Test(arguments: 0..<5)
  func whatIsSentSettlesBelowTheCapacity(seed: UInt64) {
    var sender = SimulatedSender(.arrivals, seed: seed)
    sender.capacity = 1_000_000
    sender.run(seconds: 5)
    let sent = sender.run(seconds: 30)
    #expect((650_000...1_000_000).contains(sent), "\(sent) bits a second")
    #expect(sender.controller.estimate.limit == .network)
  }

  @Test(arguments: 0..<5)
  func itFollowsADropAndComesBack(seed: UInt64) {
    var sender = SimulatedSender(.arrivals, seed: seed)
    sender.run(seconds: 10)
    sender.capacity = 500_000
    sender.run(seconds: 3)
    let dropped = sender.run(seconds: 2)
    #expect((200_000...520_000).contains(dropped), "\(dropped) bits a second after 3 s")
    let settled = sender.run(seconds: 20)
    #expect((300_000...500_000).contains(settled), "\(settled) bits a second")
    sender.capacity = nil
    sender.run(seconds: 40)
    #expect(sender.run(seconds: 1) > 2_300_000, "\(sender.controller.estimate)")
  }

  /// A machine whose wall clock is set, by which its server tells when packets came.
  @Test(arguments: [UInt32(3000), 5000])
  func aClockThatIsSetBlindsItNot(ahead: UInt32) {
    var sender = SimulatedSender(.arrivals)
    sender.capacity = 2_000_000
    sender.run(seconds: 20)
    sender.ahead = ahead
    sender.run(seconds: 2)
    sender.capacity = 500_000
    sender.run(seconds: 3)
    let dropped = sender.run(seconds: 2)
    #expect((200_000...550_000).contains(dropped), "\(dropped) bits a second after 3 s")
  }

  /// Each moves the time on by half of what 24 bits hold.
  @Test func messagesThatLeadNowhereEndNothing() {
    var controller = DelayAndLossController()
    var feedback = TransportFeedback(
      sender: SSRC(2), media: SSRC(1), firstSequence: SequenceNumber(0), feedbackCount: 0, referenceTime: 0, deltas: [0]
    )
    for number in UInt16(0)..<20_000 {
      controller.sent(bytes: 1000, number: SequenceNumber(number), at: .ms(Double(number)))
      feedback.firstSequence = SequenceNumber(number)
      // Most are about nothing that was sent.
      feedback.deltas = number % 1000 == 0 ? [0] : [nil]
      controller.receive(.transportFeedback(feedback), at: .ms(Double(number)))
      feedback.referenceTime = (feedback.referenceTime &+ 0x7f_ffff) & 0xff_ffff
    }
    controller.advance(to: .ms(21_000))
    #expect(controller.estimate.bitrate >= 0)
  }

  /// As where LiveKit's server reports arrivals of video alone, and the camera was muted for a minute.
  @Test func audioWithoutVideoDidNotComeWithTheNextVideo() {
    var packets = SentPackets()
    func arrivals(_ number: UInt16, at time: Double) -> [Int] {
      packets.insert(bytes: 1000, number: SequenceNumber(number), at: .ms(time))
      let feedback = TransportFeedback(
        sender: SSRC(2), media: SSRC(1), firstSequence: SequenceNumber(number), feedbackCount: 0, referenceTime: 0,
        deltas: [0])
      return packets.read(feedback, since: nil, at: .ms(time + 50)).arrivals.map(\.bytes)
    }
    #expect(arrivals(0, at: 0) == [1000])
    packets.insert(bytes: 100, number: nil, at: .ms(20))
    #expect(arrivals(1, at: 40) == [1100])
    for number in 1...3000 { packets.insert(bytes: 100, number: nil, at: .ms(40 + Double(number) * 20)) }
    #expect(arrivals(2, at: 60_050) == [1000])
  }

  @Test(arguments: 0..<5)
  func randomLossDoesNotMakeItCollapse(seed: UInt64) {
    var sender = SimulatedSender(.arrivals, seed: seed)
    sender.loss = 0.05
    sender.run(seconds: 120)
    #expect(sender.run(seconds: 10) > 1_800_000, "\(sender.controller.estimate)")
  }

  @Test(arguments: 0..<5)
  func lostFeedbackIsNoCongestion(seed: UInt64) {
    var sender = SimulatedSender(.arrivals, seed: seed)
    sender.lostFeedback = 0.3
    sender.run(seconds: 30)
    #expect(sender.controller.estimate.limit == .none)
    sender.capacity = 700_000
    sender.run(seconds: 6)
    let sent = sender.run(seconds: 20)
    #expect((400_000...720_000).contains(sent), "\(sent) bits a second")
  }

  /// LiveKit's server reports arrivals of 20 packets or more at once: those of the smallest layer seldom, and with them what
  /// got lost before the others stopped.
  @Test(arguments: 0..<5)
  func whatWasLostBeforeItGaveWayCountsOnce(seed: UInt64) {
    var sender = SimulatedSender(.arrivals, seed: seed)
    sender.pause = 700
    sender.run(seconds: 10)
    sender.capacity = 500_000
    var least = Int.max
    for _ in 0..<50 {
      sender.run(seconds: 0.1)
      least = min(least, sender.controller.estimate.bitrate)
    }
    #expect(least > 300_000)
  }

  @Test func silenceIsHeeded() {
    var sender = SimulatedSender(.arrivals)
    sender.run(seconds: 10)
    sender.lostFeedback = 1
    sender.run(seconds: 15)
    #expect(sender.run(seconds: 1) < 600_000)
    sender.lostFeedback = 0
    sender.run(seconds: 40)
    #expect(sender.run(seconds: 1) > 2_300_000, "\(sender.controller.estimate)")
  }

  @Test(arguments: 0..<3)
  func receptionReportsAloneMakeItGiveWay(seed: UInt64) {
    var sender = SimulatedSender(.receptions, seed: seed)
    sender.run(seconds: 10)
    #expect(sender.controller.estimate.limit == .none)
    sender.capacity = 500_000
    sender.run(seconds: 4)
    let sent = sender.run(seconds: 20)
    #expect((300_000...620_000).contains(sent), "\(sent) bits a second")
    sender.capacity = nil
    sender.run(seconds: 40)
    #expect(sender.run(seconds: 1) > 2_300_000, "\(sender.controller.estimate)")
  }

  /// As LiveKit's server reports it: arrivals while there is video, and audio that goes on by itself in reception reports.
  @Test(arguments: 0..<3)
  func audioAloneIsBelievedByReceptionReports(seed: UInt64) {
    var sender = SimulatedSender(.arrivals, seed: seed)
    sender.capacity = 500_000
    sender.run(seconds: 1)
    var (controller, now) = (sender.controller, sender.now)
    #expect(controller.estimate.limit == .network)
    let before = controller.estimate.decreases
    for number in 1...15 as ClosedRange<UInt32> {
      for _ in 0..<50 {
        controller.sent(bytes: 640, number: nil, at: .ms(now))
        now += 20
        controller.advance(to: .ms(now))
      }
      let block = ReportBlock(
        ssrc: SSRC(3), fractionLost: 0, cumulativeLost: 0, highestSequence: number * 50, jitter: 0,
        lastSenderReport: 0, delaySinceLastSenderReport: 0)
      controller.receive(.receiverReport(ReceiverReport(ssrc: SSRC(2), blocks: [block])), at: .ms(now))
    }
    // What comes of it says nothing against more.
    #expect(controller.estimate.bitrate > 260_000 && controller.estimate.limit == .application)
    #expect(controller.estimate.decreases - before <= 2, "nobody is silent")
  }

  @Test func aReceiversOwnEstimateIsKept() {
    var sender = SimulatedSender(.receptions)
    sender.run(seconds: 3)
    let told = REMB(sender: SSRC(2), bitrate: 600_000, sources: [SSRC(1)])
    sender.controller.receive(.receiverEstimate(told), at: .ms(sender.now))
    let estimate = sender.controller.estimate
    #expect(estimate.limit == .network && (590_000...600_000).contains(estimate.bitrate) && estimate.decreases == 1)
    let wide = REMB(sender: SSRC(2), bitrate: 20_000_000, sources: [SSRC(1)])
    sender.controller.receive(.receiverEstimate(wide), at: .ms(sender.now))
    #expect(sender.controller.estimate.limit == .none)
  }

  @Test(arguments: 0..<3)
  func whatIsNotTriedIsNotBelieved(seed: UInt64) {
    var sender = SimulatedSender(.arrivals, seed: seed)
    sender.capacity = 800_000
    sender.run(seconds: 10)
    (sender.wanted, sender.capacity) = (300_000, nil)
    sender.run(seconds: 60)
    let estimate = sender.controller.estimate
    #expect(estimate.limit == .application)
    #expect(estimate.bitrate < 1_000_000, "\(estimate)")
  }

  // MARK: Probes

  @Test(arguments: 0..<5)
  func aProbeTellsThatMorePasses(seed: UInt64) throws {
    var sender = SimulatedSender(.arrivals, seed: seed)
    sender.capacity = 400_000
    sender.run(seconds: 10)
    (sender.wanted, sender.capacity) = (300_000, 3_000_000)
    sender.run(seconds: 10)
    let before = sender.controller.estimate
    let answer = sender.probe(1_500_000)
    let passed = try #require(answer)
    #expect((1_350_000...1_650_000).contains(passed), "\(passed)")
    #expect(sender.controller.estimate.bitrate >= passed, "\(sender.controller.estimate)")
    #expect(sender.controller.estimate.decreases == before.decreases)
  }

  @Test(arguments: 0..<5)
  func aProbeTellsWhatPasses(seed: UInt64) throws {
    var sender = SimulatedSender(.arrivals, seed: seed)
    sender.capacity = 500_000
    let passed = try probe(1_000_000, with: &sender, beside: 300_000)
    #expect((400_000...550_000).contains(passed), "\(passed)")
  }

  /// A router of 5 kB at once, as the end-to-end tests have it.
  @Test(arguments: 0..<5)
  func whatPassesAtOnceIsNoProof(seed: UInt64) throws {
    var sender = SimulatedSender(.arrivals, seed: seed)
    (sender.capacity, sender.burst) = (500_000, 40_000)
    let passed = try probe(660_000, with: &sender, beside: 350_000)
    #expect((450_000...590_000).contains(passed), "\(passed)")
  }

  /// Of a link that is known, beside less than it carries: what is sent is no less for it.
  private func probe(_ bitrate: Int, with sender: inout SimulatedSender, beside wanted: Double) throws -> Int {
    sender.run(seconds: 10)
    sender.wanted = wanted
    sender.run(seconds: 10)
    let answer = sender.probe(bitrate)
    sender.run(seconds: 3)
    #expect(sender.target == wanted, "\(sender.controller.estimate)")
    return try #require(answer)
  }

  @Test func aProbeOfWhichNothingComesEnds() {
    var sender = SimulatedSender(.arrivals)
    sender.run(seconds: 5)
    sender.lostFeedback = 1
    let answer = sender.probe(5_000_000)
    #expect(answer == 0)
  }

  @Test func whereNoArrivalsAreReportedNothingIsProbed() {
    var sender = SimulatedSender(.receptions)
    sender.run(seconds: 5)
    sender.controller.probe(5_000_000, at: .ms(sender.now))
    #expect(sender.controller.missingPadding(at: .ms(sender.now + 50)) == nil)
    #expect(sender.controller.estimate.probes == nil)
  }
}
