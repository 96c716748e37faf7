import MediaCore
import Testing

@testable import MediaPipelines

@Suite struct FrameChangesTests {
  private var changes = FrameChanges<String>()

  private static let interval = Duration.nanoseconds(33_333_333)
  /// Of a mixed frame, of which there are 30 a second, as mixers round it.
  private static func frame(_ number: Int) -> MediaTime {
    MediaTime(nanoseconds: 1_000_000_000_000 + Int64(number) * 1_000_000_000 / 30)
  }

  /// - Returns: what is changed behind that frame.
  private mutating func mix(_ number: Int, skipping skipped: Duration = .zero) -> [String] {
    changes.mixed(Self.frame(number), for: Self.frame(number + 1) - Self.frame(number), skipping: skipped)
  }

  @Test mutating func beforeAnythingIsMixedNothingWaits() {
    let time = changes.frame(at: Self.frame(3))
    let isWaiting = changes.add("a", from: time)
    #expect(time == Self.frame(3) && !isWaiting)
  }

  @Test mutating func aChangeIsMadeBehindTheLastFrameWithoutIt() {
    _ = mix(0)
    let time = changes.frame(at: Self.frame(9) + .milliseconds(5))
    #expect(time >= Self.frame(10) && time < Self.frame(10) + .milliseconds(1))
    let isWaiting = [changes.add("a", from: time), changes.add("b", from: time)]
    #expect(isWaiting == [true, true])
    for number in 1..<9 {
      let early = mix(number)
      #expect(early.isEmpty, "\(number)")
    }
    let (due, late) = (mix(9), mix(10))
    #expect(due == ["a", "b"] && late.isEmpty)
  }

  /// However times are rounded on the way.
  @Test mutating func eachFrameIsMet() {
    for number in 0..<900 {
      _ = mix(number)
      let ahead = 1 + number % 450
      let time = changes.frame(at: Self.frame(number + ahead) - .milliseconds(1))
      #expect(time >= Self.frame(number + ahead) && time < Self.frame(number + ahead) + .milliseconds(1))
      _ = changes.add("\(number)", from: time)
      let early = ahead > 1 ? mix(number + ahead - 2) : []
      let due = mix(number + ahead - 1)
      #expect(early.isEmpty && due == ["\(number)"], "\(number)")
    }
  }

  /// The mixer is at the moment, or beyond it.
  @Test mutating func whatIsMixedAlreadyIsNotChanged() {
    _ = mix(20)
    let time = changes.frame(at: Self.frame(15))
    #expect(time >= Self.frame(21) && time < Self.frame(22))
  }

  /// Frames 4 to 6 are left out: the next one is the seventh.
  @Test mutating func framesThatAreLeftOutAreNotWaitedFor() {
    _ = mix(2)
    for number in [5, 7, 8] { _ = changes.add("\(number)", from: changes.frame(at: Self.frame(number))) }
    let (due, rest) = (mix(3, skipping: Self.interval * 3.5), mix(7))
    #expect(due == ["5", "7"] && rest == ["8"])
  }

  @Test func whatIsDueIsTakenOnceAndInOrder() {
    var list = MomentList<Int>()
    for (change, number) in [(1, 5), (2, 3), (3, 9)] { list.add(change, from: Self.frame(number)) }
    let due = [2, 5, 5].map { list.due(at: Self.frame($0)) }
    #expect(due == [[], [1, 2], []])
    let (rest, none) = (list.takeAll(), list.takeAll())
    #expect(rest == [3] && none.isEmpty)
  }
}
