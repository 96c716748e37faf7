import MediaCore
import Testing

@testable import RTP

@Suite("SenderTimeline")
struct SenderTimelineTests {
  /// A participant with audio and video, whose frame takes longer to make and to arrive.
  struct Participant {
    var timeline = SenderTimeline()
    private var random: SeededRandom
    private let audioStart: UInt32
    private let videoStart: UInt32
    private let wallStart: Int64
    /// How much faster the sender's clock runs, in parts per million.
    var drift = 0.0
    var jitter = 20.0
    var reportsFrom = 500.0
    var videoDelay = 60.0
    /// By how much a report of video is wrong, by its number.
    var wrongReports: [Int: Double] = [:]
    private var reportCount = 0
    /// Placement of frame minus that of audio for the same moment, in milliseconds, for each time.
    var skews: [(time: Double, skew: Double)] = []
    /// Local time minus capture time of the audio.
    var delays: [(time: Double, delay: Double)] = []
    var largestStep = 0.0
    var backwards = 0

    init(seed: UInt64) {
      random = SeededRandom(seed: seed)
      audioStart = UInt32.random(in: 0...(.max), using: &random)
      videoStart = UInt32.random(in: 0...(.max), using: &random)
      wallStart = Int64.random(in: 0...4_000_000_000_000_000_000, using: &random)
      timeline.addTrack("audio", clockRate: 48_000)
      timeline.addTrack("video", clockRate: 90_000, isVideo: true)
    }

    private func timestamp(_ start: UInt32, _ time: Double, rate: Double) -> UInt32 {
      start &+ UInt32(truncatingIfNeeded: Int64(time * (1 + drift / 1e6) * rate))
    }

    mutating func run(seconds: Int) {
      var last: (media: Double, local: Double)?
      for step in 0..<(seconds * 50) {
        let time = Double(step) * 20
        let audio = timestamp(audioStart, time, rate: 48)
        let video = timestamp(videoStart, time, rate: 90)
        timeline.observe("audio", timestamp: audio, at: .ms(time + 20 + Double.random(in: 0...jitter, using: &random)))
        timeline.observe(
          "video", timestamp: video, at: .ms(time + videoDelay + Double.random(in: 0...jitter, using: &random)))
        if time >= reportsFrom && step % 50 == 25 { report(at: time, audio, video) }
        guard let audio = timeline.time("audio", of: audio), let frame = timeline.time("video", of: video) else {
          continue
        }
        skews.append((time, frame.milliseconds - audio.milliseconds))
        delays.append((time, audio.milliseconds - time))
        if let last, time > 1500 {
          largestStep = max(largestStep, abs(audio.milliseconds - last.local - (time - last.media)))
          if audio.milliseconds <= last.local { backwards += 1 }
        }
        last = (time, audio.milliseconds)
      }
    }

    private mutating func report(at time: Double, _ audio: UInt32, _ video: UInt32) {
      for (track, timestamp) in [("audio", audio), ("video", video)] {
        // Reports are made up to a millisecond beside the truth.
        let noise = Double.random(in: -1...1, using: &random)
        let error = track == "video" ? wrongReports[reportCount] ?? 0 : 0
        let wall = wallStart + Int64((time * (1 + drift / 1e6) + noise + error) * 1e6)
        timeline.observe(track, report: NTPTime(unixNanoseconds: wall), timestamp: timestamp)
      }
      reportCount += 1
    }
  }

  @Test func unknownTracksAreIgnored() {
    var timeline = SenderTimeline()
    timeline.observe("x", timestamp: 1, at: .ms(1))
    timeline.observe("x", report: NTPTime(rawValue: 1), timestamp: 1)
    #expect(timeline.time("x", of: 1) == nil)
    timeline.addTrack("x", clockRate: 90_000)
    #expect(timeline.time("x", of: 1) == nil)
  }

  @Test func beforeReportsArrivalPlacesTheTrack() {
    var timeline = SenderTimeline()
    timeline.addTrack("x", clockRate: 90_000)
    timeline.observe("x", timestamp: .max - 8_999, at: .ms(1000))
    #expect(timeline.time("x", of: .max - 8_999) == .ms(1000))
    #expect(timeline.time("x", of: 0) == .ms(1100))
    #expect(timeline.time("x", of: .max - 17_999) == .ms(900))
    #expect(timeline.wallTime("x", of: 0) == nil)
  }

  @Test(arguments: 0..<8)
  func reportsBringAudioAndFrameTogether(seed: UInt64) {
    var participant = Participant(seed: seed)
    participant.run(seconds: 20)
    #expect(participant.skews.filter { $0.time > 5000 }.allSatisfy { abs($0.skew) < 3 })
    #expect(participant.delays.filter { $0.time > 5000 }.allSatisfy { (17...26).contains($0.delay) })
  }

  @Test(arguments: 0..<8)
  func nothingJumpsAfterTheStart(seed: UInt64) {
    var participant = Participant(seed: seed)
    // The reports come late, when much depends on the placement already.
    participant.reportsFrom = 4000
    participant.run(seconds: 20)
    #expect(participant.largestStep < 1)
    #expect(participant.backwards == 0)
    #expect(participant.skews.filter { $0.time > 10_000 }.allSatisfy { abs($0.skew) < 3 })
  }

  /// A camera's first frames are held back while its sender finds out how much it may send.
  @Test(arguments: 0..<8)
  func videoThatIsFarFromItsAudioIsWithItSoon(seed: UInt64) {
    var participant = Participant(seed: seed)
    participant.videoDelay = 300
    participant.reportsFrom = 4000
    participant.run(seconds: 12)
    #expect(participant.skews.filter { (2000..<4000).contains($0.time) }.allSatisfy { $0.skew > 200 })
    #expect(participant.skews.filter { $0.time > 6500 }.allSatisfy { abs($0.skew) < 45 })
    #expect(participant.skews.filter { $0.time > 9000 }.allSatisfy { abs($0.skew) < 5 })
    let steps = zip(participant.skews, participant.skews.dropFirst()).map { $1.skew - $0.skew }
    #expect(steps.dropFirst(75).allSatisfy { abs($0) < 9 }, "frames never go back")
    #expect(participant.largestStep < 1, "the audio is left where it is")
  }

  /// Not while it is found out how late they are, either: what is muxed has its order.
  @Test(arguments: 0..<8, [0.0, 300])
  func firstFramesKeepTheirOrder(seed: UInt64, firstIsLate: Double) {
    var random = SeededRandom(seed: seed)
    var timeline = SenderTimeline()
    timeline.addTrack("audio", clockRate: 48_000)
    timeline.addTrack("video", clockRate: 90_000, isVideo: true)
    var (times, last): ([Double], Double) = ([], 0)
    for frame in 0..<50 {
      let sent = Double(frame) * 40
      last = max(last, sent + (frame == 0 ? firstIsLate : .random(in: 0...60, using: &random)))
      timeline.observe("audio", timestamp: UInt32(sent * 48), at: .ms(sent + 50))
      timeline.observe("video", timestamp: UInt32(sent * 90), at: .ms(last))
      if frame == 12 {
        for (track, rate) in [("audio", 48.0), ("video", 90)] {
          let report = NTPTime(unixNanoseconds: 1_000_000_000_000 + Int64(sent * 1e6))
          timeline.observe(track, report: report, timestamp: UInt32(sent * rate))
        }
      }
      if let time = timeline.time("video", of: UInt32(sent * 90)) { times.append(time.milliseconds) }
    }
    let steps = zip(times, times.dropFirst()).map { $1 - $0 }
    #expect(steps.allSatisfy { (19...61).contains($0) }, "\(steps)")
    #expect(abs(times[49] - 49 * 40 - 50) < 5, "with its audio: \(times[49])")
  }

  /// A busy sender makes reports that are wrong by as much as its encoder was late.
  @Test(arguments: [[3], [2, 7, 12], [4, 6]], [150.0, 190, 210, 600])
  func reportsThatAreWrongAreOutvoted(numbers: [Int], error: Double) {
    var participant = Participant(seed: 5)
    participant.wrongReports = Dictionary(uniqueKeysWithValues: numbers.map { ($0, error) })
    participant.run(seconds: 20)
    #expect(participant.skews.filter { $0.time > 1500 }.allSatisfy { abs($0.skew) < 5 })
    #expect(participant.largestStep < 1 && participant.backwards == 0)
  }

  @Test(arguments: [[0], [0, 1]], [150.0, 190, 210, 400])
  func firstReportsThatAreWrongDoNotStay(numbers: [Int], error: Double) {
    var participant = Participant(seed: 6)
    participant.wrongReports = Dictionary(uniqueKeysWithValues: numbers.map { ($0, error) })
    participant.run(seconds: 30)
    #expect(participant.skews.filter { $0.time > 7000 }.allSatisfy { abs($0.skew) < 45 })
    #expect(participant.skews.filter { $0.time > 25_000 }.allSatisfy { abs($0.skew) < 3 })
    #expect(participant.backwards == 0)
  }

  @Test(arguments: [-200.0, -50, 50, 200])
  func driftingClocksAreFollowed(drift: Double) {
    var participant = Participant(seed: 3)
    participant.drift = drift
    participant.run(seconds: 300)
    // 200 ppm over 16 s is 3.2 ms.
    #expect(participant.delays.filter { $0.time > 5000 }.allSatisfy { (12...30).contains($0.delay) })
    #expect(participant.skews.filter { $0.time > 5000 }.allSatisfy { abs($0.skew) < 4 })
    #expect(participant.largestStep < 1 && participant.backwards == 0)
  }

  @Test func timestampsThatBeginAnewAreFollowedAtOnce() {
    var timeline = SenderTimeline()
    timeline.addTrack("x", clockRate: 1000)
    for index in 0..<100 { timeline.observe("x", timestamp: UInt32(index * 20), at: .ms(Double(5000 + index * 20))) }
    timeline.observe("x", timestamp: 3_000_000_000, at: .ms(8000))
    #expect(timeline.time("x", of: 3_000_000_000) == .ms(8000))
    timeline.observe("x", timestamp: 3_000_000_020, at: .ms(8040))
    #expect(timeline.time("x", of: 3_000_000_020) == .ms(8020))
  }

  @Test func aStallDoesNotMoveTheTimeline() {
    var timeline = SenderTimeline()
    timeline.addTrack("x", clockRate: 1000)
    for index in 0..<500 {
      let sent = Double(index * 20)
      // The network holds everything back for two seconds and delivers it at once.
      let arrival = (4000..<6000).contains(sent) ? 6000 : sent
      timeline.observe("x", timestamp: UInt32(index * 20), at: .ms(arrival + 10))
    }
    #expect(timeline.time("x", of: 9980) == .ms(9990))
  }

  /// What the network held back comes no faster than it lets pass, for longer than a pause takes to be believed.
  @Test(arguments: [1_000.0, 2_000], [1.25, 1.5, 3]) func aStallThatDrainsSlowlyDoesNotMoveTheTimeline(
    stall: Double, speed: Double
  ) {
    var timeline = SenderTimeline()
    timeline.addTrack("x", clockRate: 1000)
    var arrival = 0.0
    for index in 0..<1000 {
      let sent = Double(index * 20)
      arrival = max(sent + 10, index == 200 ? 4010 + stall : arrival + 20 / speed)
      timeline.observe("x", timestamp: UInt32(index * 20), at: .ms(arrival))
      if index > 50 {
        #expect(timeline.time("x", of: UInt32(index * 20)).map { abs($0.milliseconds - sent - 10) < 60 } == true)
      }
    }
    #expect(timeline.time("x", of: 19_980) == .ms(19_990))
  }

  /// An encoder that chokes lets a frame through now and then.
  @Test func fewFramesThatAreLateAreNoPause() {
    var timeline = SenderTimeline()
    timeline.addTrack("x", clockRate: 1000, isVideo: true)
    for index in 0..<500 where !(251..<300).contains(index) || index == 270 {
      let late = index == 250 ? 516.0 : index == 270 ? 2168 : 10
      timeline.observe("x", timestamp: UInt32(index * 20), at: .ms(Double(index * 20) + late))
    }
    #expect(timeline.time("x", of: 6000) == .ms(6010))
  }

  /// Senders count the samples they send: while nothing is captured, their timestamps stand still.
  @Test(arguments: [2_000.0, 60_000], [true, false])
  func aPauseInWhichTimestampsStandStillIsNoticed(pause: Double, hasReports: Bool) {
    var timeline = SenderTimeline()
    for track in ["x", "other"] { timeline.addTrack(track, clockRate: 1000) }
    for index in 0..<500 {
      let timestamp = UInt32(index * 20)
      let arrival = Double(timestamp) + 10 + (index >= 250 ? pause : 0)
      let wall = NTPTime(unixNanoseconds: Int64(arrival * 1e6))
      timeline.observe("x", timestamp: timestamp, at: .ms(arrival))
      timeline.observe("other", timestamp: UInt32(arrival), at: .ms(arrival))
      guard hasReports && index % 100 == 10 else { continue }
      timeline.observe("x", report: wall, timestamp: timestamp)
      timeline.observe("other", report: wall, timestamp: UInt32(arrival))
    }
    #expect(timeline.time("x", of: 5600).map { abs($0.milliseconds - 5610 - pause) < 5 } == true)
    #expect(timeline.time("x", of: 9980).map { abs($0.milliseconds - 9990 - pause) < 5 } == true)
  }

  @Test func aWallClockThatWasSetDoesNotShow() {
    var timeline = SenderTimeline()
    for track in ["x", "y"] { timeline.addTrack(track, clockRate: 1000) }
    var largestError = 0.0
    for index in 0..<500 {
      let timestamp = UInt32(index * 20)
      for track in ["x", "y"] {
        timeline.observe(track, timestamp: timestamp, at: .ms(Double(timestamp) + 10))
        let placed = timeline.time(track, of: timestamp)?.milliseconds ?? .infinity
        largestError = max(largestError, abs(placed - Double(timestamp) - 10))
      }
      let wall = Int64(index * 20) * 1_000_000 + (index > 200 ? 3_600_000_000_000 : 0)
      if index % 50 == 0 { timeline.observe("x", report: NTPTime(unixNanoseconds: wall), timestamp: timestamp) }
      if index % 50 == 25 { timeline.observe("y", report: NTPTime(unixNanoseconds: wall), timestamp: timestamp) }
    }
    #expect(largestError < 2)
    #expect(timeline.wallTime("x", of: 9980) != nil && timeline.wallTime("y", of: 9980) != nil)
  }

  /// Senders report of audio every five seconds, and LiveKit's server repeats that in between.
  @Test(arguments: [-2_000.0, 2_000]) func aClockThatWasSetIsNoneTheLessSetWhereReportsAreRepeated(step: Double) {
    var timeline = SenderTimeline()
    timeline.addTrack("audio", clockRate: 1000)
    timeline.addTrack("video", clockRate: 1000, isVideo: true)
    var (largestError, said) = (0.0, 0.0)
    for index in 0..<1500 {
      let (time, timestamp) = (Double(index * 20), UInt32(index * 20))
      for (track, delay) in [("audio", 20.0), ("video", 60)] {
        timeline.observe(track, timestamp: timestamp, at: .ms(time + delay))
        let placed = timeline.time(track, of: timestamp)?.milliseconds ?? .infinity
        if time > 4000 { largestError = max(largestError, abs(placed - time - 20)) }
      }
      guard index % 50 == 25 else { continue }
      let set = time > 12_000 ? step : 0
      if index % 250 == 25 { said = set }
      for (track, offset) in [("video", set), ("audio", said)] {
        let wall = Int64((time + 10_000 + offset) * 1e6)
        timeline.observe(track, report: NTPTime(unixNanoseconds: wall), timestamp: timestamp)
      }
    }
    #expect(largestError < 60, "ms between where frames and audio belong and where they are")
  }

  @Test func anyInputIsSafe() {
    var random = SeededRandom(seed: 9)
    var timeline = SenderTimeline()
    timeline.addTrack("a", clockRate: 0)
    timeline.addTrack("b", clockRate: .max)
    for _ in 0..<20_000 {
      let track = random.chance(0.5) ? "a" : "b"
      let timestamp = UInt32.random(in: 0...(.max), using: &random)
      if random.chance(0.3) {
        timeline.observe(track, report: NTPTime(rawValue: random.next()), timestamp: timestamp)
      } else {
        let time = MediaTime.ms(Double.random(in: 0...1e9, using: &random))
        timeline.observe(track, timestamp: timestamp, at: time)
        _ = timeline.awaitsPlace(track, at: time + .milliseconds(500))
      }
      _ = timeline.time(track, of: timestamp)
    }
  }
}
