import MediaCore
import Testing

@testable import Egress

/// When a command with several readers is over.
@Suite struct RawCourseTests {
  private let now = MediaTime(nanoseconds: 0)

  private func isOver(_ stages: [RawCourse.Stage], othersMayCome: Bool = false) -> Bool {
    RawCourse().isOver(stages, othersMayCome: othersMayCome, at: now)
  }

  @Test func allThatHasBegunIsWaitedFor() {
    #expect(!isOver([]) && !isOver([.waiting]) && !isOver([.running]))
    #expect(isOver([.done]) && isOver([.done, .ended]))
    #expect(!isOver([.done, .running]))
    #expect(isOver([.done, .waiting]), "who has sent nothing by then is not waited for")
  }

  @Test func whoMayStillComeIsWaitedFor() {
    #expect(isOver([.ended, .ended]) && !isOver([.ended, .running]))
    #expect(!isOver([.ended, .ended], othersMayCome: true))
  }

  @Test func whoeverHasLeftIsNotWaitedForLongerThanWasAskedFor() {
    var course = RawCourse()
    course.noteLeft(.seconds(3), at: now)
    course.noteLeft(.seconds(1), at: now)
    course.noteLeft(.seconds(-1), at: now)
    #expect(!course.isOver([], othersMayCome: false, at: now + .seconds(2)))
    #expect(course.isOver([], othersMayCome: false, at: now + .seconds(3)))
    #expect(!course.isOver([.running], othersMayCome: false, at: now + .seconds(9)))
    var unlimited = RawCourse()
    unlimited.noteLeft(nil, at: now)
    #expect(!unlimited.isOver([], othersMayCome: true, at: now + .seconds(1_000_000)))
  }
}
