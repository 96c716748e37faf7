import MediaCore
import Testing

@testable import RTP

/// Senders that count what they send: while they send nothing, their timestamps stand still.
@Suite struct FrozenTimestampsTests {
  /// Reports of a track on their way through LiveKit's server. Times are milliseconds.
  private struct RelayedReports {
    private var published: (time: Double, media: Double)?
    private var newest = -Double.infinity

    /// The server ignores one whose timestamp is before that of the last one.
    mutating func publish(_ media: Double, at time: Double) {
      guard media >= published?.media ?? media else { return }
      published = (time, media)
    }

    /// - Returns: the media time of the server's own report; nil where that would go back.
    mutating func relay(at time: Double) -> Double? {
      guard let published else { return nil }
      let media = published.media + time - published.time
      guard media >= newest else { return nil }
      newest = media
      return media
    }
  }

  /// A participant whose audio pauses, and whose video does not.
  private struct Participant {
    /// In the order of their beginnings.
    let pauses: [(begin: Double, length: Double)]
    /// From one report of the audio's sender to the next, and when the server makes its first one.
    let interval: Double
    let phase: Double
    private var timeline = SenderTimeline()
    private var random = SeededRandom(seed: 7)
    private var reports = (audio: RelayedReports(), video: RelayedReports())
    /// What is not placed yet: when it was sent, and its timestamp.
    private var held: [(time: Double, timestamp: UInt32)] = []
    /// Between where something is and where it belongs, once all has settled.
    private(set) var errors: (audio: [Double], video: [Double]) = ([], [])
    /// When the audio was sent that was held, since the pause.
    private(set) var heldTimes: [Double] = []

    init(pauses: [(begin: Double, length: Double)], interval: Double, phase: Double) {
      (self.pauses, self.interval, self.phase) = (pauses, interval, phase)
      timeline.addTrack("audio", clockRate: 48_000)
      timeline.addTrack("video", clockRate: 90_000, isVideo: true)
    }

    mutating func run() {
      let end = pauses.reduce(0) { $1.begin + $1.length } + 25_000
      for time in stride(from: 0, to: end, by: 20) {
        report(at: time)
        if !pauses.contains(where: { $0.begin <= time && time < $0.begin + $0.length }) { sendAudio(at: time) }
        if time.truncatingRemainder(dividingBy: 40) == 0 { sendVideo(at: time) }
      }
    }

    /// While it sends nothing, a sender says of its timestamps that they go on.
    private func audioMedia(at time: Double) -> Double { time - over(at: time).reduce(0) { $0 + $1.length } }

    private func over(at time: Double) -> [(begin: Double, length: Double)] {
      pauses.filter { $0.begin + $0.length <= time }
    }

    /// They begin anew at zero before the pause.
    private func ticks(_ media: Double, rate: Double) -> UInt32 {
      UInt32(truncatingIfNeeded: Int64((media - 5000) * rate))
    }

    private mutating func sendAudio(at time: Double) {
      let timestamp = ticks(audioMedia(at: time), rate: 48)
      let arrival = arrive(time, delay: 20)
      timeline.observe("audio", timestamp: timestamp, at: arrival)
      held.append((time, timestamp))
      guard !timeline.awaitsPlace("audio", at: arrival) else {
        return heldTimes.append(sinceEnd(of: over(at: time).last, time))
      }
      for (time, timestamp) in held { errors.audio += error("audio", of: timestamp, sent: time) }
      held = []
    }

    private func sinceEnd(of pause: (begin: Double, length: Double)?, _ time: Double) -> Double {
      pause.map { time - $0.begin - $0.length } ?? .infinity
    }

    private mutating func sendVideo(at time: Double) {
      let timestamp = ticks(time, rate: 90)
      let arrival = arrive(time, delay: 60)
      timeline.observe("video", timestamp: timestamp, at: arrival)
      errors.video += error("video", of: timestamp, sent: time)
    }

    private mutating func arrive(_ time: Double, delay: Double) -> MediaTime {
      .ms(time + delay + Double.random(in: 0...20, using: &random))
    }

    private func error(_ track: String, of timestamp: UInt32, sent time: Double) -> [Double] {
      guard time > 8000 else { return [] }
      return [timeline.time(track, of: timestamp).map { abs($0.milliseconds - time - 20) } ?? .infinity]
    }

    private mutating func report(at time: Double) {
      let noise = Double.random(in: -0.3...0.3, using: &random)
      if time.truncatingRemainder(dividingBy: interval) == 500 {
        reports.audio.publish(audioMedia(at: time) + noise, at: time)
      }
      if time.truncatingRemainder(dividingBy: 1000) == 0 { reports.video.publish(time + noise, at: time) }
      guard time.truncatingRemainder(dividingBy: 3000) == phase else { return }
      let wall = NTPTime(unixNanoseconds: 1_000_000_000_000 + Int64(time * 1e6))
      if let media = reports.audio.relay(at: time) {
        timeline.observe("audio", report: wall, timestamp: ticks(media, rate: 48))
      }
      if let media = reports.video.relay(at: time) {
        timeline.observe("video", report: wall, timestamp: ticks(media, rate: 90))
      }
    }
  }

  /// LiveKit's server goes on to extrapolate the time before the pause, for as long as that was.
  @Test(
    arguments: [600.0, 1_000, 2_000, 3_000, 5_000, 8_000, 9_600, 12_000, 20_000],
    [0.0, 500, 1_000, 1_500, 2_000, 2_500])
  func nothingIsMisplacedBehindAPause(pause: Double, phase: Double) {
    for interval in [1_000.0, 5_000] {
      judge(Participant(pauses: [(10_000, pause)], interval: interval, phase: phase))
    }
  }

  /// What is said between them is too short for a newer report to get through.
  @Test(arguments: [1_000.0, 2_000, 4_000, 7_000], [0.0, 500, 1_000, 1_500, 2_000, 2_500])
  func nothingIsMisplacedBehindTwoPauses(pause: Double, phase: Double) {
    for interval in [1_000.0, 5_000] {
      judge(Participant(pauses: [(10_000, pause), (11_800 + pause, 1_200)], interval: interval, phase: phase))
    }
  }

  private func judge(_ participant: Participant) {
    var participant = participant
    participant.run()
    let (audio, video) = participant.errors
    #expect(audio.max() ?? .infinity < 40 && video.max() ?? .infinity < 60)
    let held = participant.heldTimes
    #expect(held.first == 0 && held.allSatisfy { (0..<540).contains($0) }, "\(held)")
  }

  /// Then no packet comes by which it is proved.
  @Test func aFewWordsBehindAPauseArePlacedInTime() {
    var timeline = SenderTimeline()
    timeline.addTrack("x", clockRate: 1000)
    for timestamp in stride(from: 0.0, to: 5300, by: 20) {
      timeline.observe("x", timestamp: UInt32(timestamp), at: .ms(timestamp + (timestamp < 5000 ? 10 : 2010)))
    }
    let isEarly = timeline.awaitsPlace("x", at: .ms(7509))
    let isLate = timeline.awaitsPlace("x", at: .ms(7510))
    #expect(isEarly && !isLate && timeline.time("x", of: 5000) == .ms(7010))
  }

  /// When packets are waited with, in milliseconds.
  /// - Parameter arrivals: of packets of 20 ms.
  private func waits(_ arrivals: [Double], isVideo: Bool = false) -> [Double] {
    var timeline = SenderTimeline()
    timeline.addTrack("x", clockRate: 1000, isVideo: isVideo)
    return arrivals.enumerated().compactMap { index, arrival in
      timeline.observe("x", timestamp: UInt32(index * 20), at: .ms(arrival))
      return timeline.awaitsPlace("x", at: .ms(arrival)) ? arrival : nil
    }
  }

  /// What a stall held back comes faster than its timestamps, and goes on as soon as that shows.
  @Test(arguments: [(1000, 5), (3, 60), (1.5, 220), (1.25, 420)] as [(Double, Double)])
  func whatComesBehindAStallIsNotWaitedWithForLong(speed: Double, longest: Double) {
    var arrival = 0.0
    let arrivals = (0..<1000).map { index in
      arrival = max(Double(index * 20) + 10, index == 200 ? 5510 : arrival + 20 / speed)
      return arrival
    }
    let waited = waits(arrivals)
    #expect(waited.first == 5510 && waited.allSatisfy { $0 <= 5510 + longest }, "\(waited)")
  }

  @Test func jitterIsNotWaitedWith() {
    var random = SeededRandom(seed: 3)
    var last = 0.0
    let arrivals = (0..<2000).map { index in
      last = max(last, Double(index * 20) + Double.random(in: 0...400, using: &random))
      return last
    }
    #expect(waits(arrivals).isEmpty)
  }

  /// Frames that are late are shown none the less.
  @Test func videoIsNotWaitedWith() {
    let arrivals = (0..<500).map { Double($0 * 20) + ($0 < 250 ? 10 : 2010) }
    #expect(!waits(arrivals).isEmpty && waits(arrivals, isVideo: true).isEmpty)
  }
}
