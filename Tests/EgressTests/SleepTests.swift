import Foundation
import MediaCore
import Testing

@testable import Egress

/// A machine that sleeps while it records.
@Suite struct SleepTests {
  private let start = MediaTime(nanoseconds: 1_000_000_000_000)

  @Test func whatSleptSinceTheLastLookIsNoted() {
    var log = SleepLog(.seconds(500))
    let news = [
      log.note(.milliseconds(500_400), at: start + .seconds(1)), log.note(.seconds(1220), at: start + .seconds(2)),
      log.note(.seconds(1220), at: start + .seconds(3)), log.note(.seconds(1230), at: start + .seconds(9)),
    ]
    #expect(news == [nil, .seconds(720), nil, .seconds(10)])
  }

  @Test func eachMomentHasTheSleepBeforeIt() {
    var log = SleepLog(.seconds(500))
    _ = log.note(.seconds(1220), at: start + .seconds(2))
    _ = log.note(.seconds(1230), at: start + .seconds(9))
    let times = [-60_000, 0, 1999, 2000, 8000, 9000].map { log.uptime(at: start + .milliseconds($0)) }
    let expected = [440_000, 500_000, 501_999, 1_222_000, 1_228_000, 1_239_000].map { Duration.milliseconds($0) }
    #expect(times.map { $0 - .seconds(1000) } == expected)
  }

  @Test func whatIsMissingIsToldInOne() {
    var missed = MissedSleep()
    missed.note(.seconds(720), at: .seconds(723.2))
    let first = missed.omission(of: "alice")
    #expect("\(first)" == "720 s of alice: the machine slept after the first 723 s" && first.wasWanted)
    missed.note(.seconds(80), at: .seconds(5012))
    let second = missed.omission(of: nil)
    #expect("\(second)" == "800 s: the machine slept 2 times, the last time after the first 5012 s")
    var list = OmissionList()
    let isNews = [list.note(first), list.note(second), list.note(second)]
    #expect(isNews == [true, true, false] && list.all == [second])
  }

  /// Those of segments and images, by media that came before the machine slept and by what comes afterwards.
  @Test func datesAreRightAfterwards() {
    let media = JobMedia(beginsWithVideo: false, onKeyframeNeeded: {}, onBegin: {})
    media.begin(at: start)
    let clock = OutputClock { [media] in media.moment(of: $0).map(media.uptime(at:)) }
    clock.begin(at: .zero, reaching: nil)
    let begin = clock.date(of: .zero)
    func seconds(_ time: Duration) -> Double { clock.date(of: time).timeIntervalSince(begin) }
    #expect(abs(seconds(.seconds(10)) - 10) < 0.01)
    let slept = media.sleeps.withLock { $0.note(MediaTime.sleep + .seconds(600), at: start + .seconds(8)) }
    #expect(slept != nil)
    #expect(abs(seconds(.seconds(4)) - 4) < 0.01, "the segment that it slept in")
    #expect(abs(seconds(.seconds(12)) - 612) < 1)
  }
}
