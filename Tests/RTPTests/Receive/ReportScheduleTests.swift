import MediaCore
import Testing

@testable import RTP

@Suite("When reception is reported")
struct ReportScheduleTests {
  @Test func theFirstReportComesAfterHalfAnInterval() {
    var schedule = ReportSchedule(every: .seconds(1))
    #expect(schedule.deadline(hasNews: true) == nil)
    schedule.begin(at: .ms(1000))
    schedule.begin(at: .ms(1400))
    #expect(schedule.deadline(hasNews: true) == .ms(1500))
    #expect(schedule.poll(at: .ms(1499), hasNews: true) == false)
    #expect(schedule.poll(at: .ms(1500), hasNews: true) == true)
  }

  @Test func laterOnesAreAnIntervalApart() {
    var schedule = ReportSchedule(every: .seconds(1))
    schedule.begin(at: .ms(1000))
    #expect(schedule.poll(at: .ms(1700), hasNews: true) == true)
    #expect(schedule.poll(at: .ms(2699), hasNews: true) == false)
    #expect(schedule.poll(at: .ms(2700), hasNews: true) == true)
  }

  @Test func whereNothingCameNothingIsDue() {
    var schedule = ReportSchedule(every: .seconds(1))
    schedule.begin(at: .ms(1000))
    #expect(schedule.deadline(hasNews: false) == nil)
    #expect(schedule.poll(at: .ms(5000), hasNews: false) == false)
    // And what comes then is reported at once.
    #expect(schedule.poll(at: .ms(5001), hasNews: true) == true)
  }
}
