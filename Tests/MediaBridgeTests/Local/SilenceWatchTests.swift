import Testing

@testable import MediaBridge

@Suite("What is said of live sources of which nothing comes")
struct SilenceWatchTests {
  private static let all: Set = [0, 1, 2]

  /// Source 0 has video at place 0 and audio at place 1, source 1 has a track at place 2.
  /// - Parameter seconds: what comes in each.
  /// - Returns: what is said, by the second in which it is.
  private static func run(_ seconds: [Set<Int>], awaited: Set<Int> = Self.all) -> [Int: [SilenceWatch.News]] {
    var (watch, counts) = (SilenceWatch(), [0, 0, 0])
    var said: [Int: [SilenceWatch.News]] = [:]
    for (second, flowing) in seconds.enumerated() {
      for place in flowing { counts[place] += 25 }
      let tracks = counts.indices.map { place in
        SilenceWatch.Track(source: place / 2, count: counts[place], isAwaited: awaited.contains(place))
      }
      let news = watch.look(tracks)
      if !news.isEmpty { said[second] = news }
    }
    return said
  }

  private static func times(_ count: Int, _ flowing: Set<Int>) -> [Set<Int>] { Array(repeating: flowing, count: count) }

  @Test func whatComesIsNotTalkedOf() {
    #expect(Self.run(Self.times(20, Self.all)).isEmpty)
  }

  @Test func aSourceOfWhichNothingComesIsToldAgainAndAgain() {
    #expect(Self.run([Self.all] + Self.times(10, [2])) == [5: [.source(0)], 10: [.source(0)]])
  }

  @Test func oneTrackThatIsSilentIsToldOnceAndThatItIsBack() {
    let said = Self.run([Self.all] + Self.times(30, [0, 2]) + Self.times(5, Self.all))
    #expect(said == [10: [.track(1, isSilent: true)], 31: [.track(1, isSilent: false)]])
  }

  /// Its audio is heard before its first keyframe.
  @Test func aSourceThatIsBackMayTakeItsTime() {
    let seconds = [Self.all] + Self.times(6, [2]) + Self.times(9, [1, 2]) + Self.times(5, Self.all)
    #expect(Self.run(seconds) == [5: [.source(0)]])
  }

  @Test func aSourceOfWhichAMutedTrackGoesOnIsNotAway() {
    let seconds = [Self.all] + Self.times(12, [0, 2])
    #expect(Self.run(seconds, awaited: [1, 2]) == [10: [.track(1, isSilent: true)]])
  }

  @Test func nothingIsAwaitedOfWhatIsMuted() {
    #expect(Self.run([Self.all] + Self.times(20, [2]), awaited: [2]).isEmpty)
  }

  @Test func tracksMayComeLater() {
    var watch = SilenceWatch()
    func look(_ counts: [Int]) -> [SilenceWatch.News] {
      watch.look(counts.enumerated().map { SilenceWatch.Track(source: $0.offset, count: $0.element, isAwaited: true) })
    }
    let before = (1...10).flatMap { look([$0]) }
    let after = (11...15).flatMap { look([$0, 0]) }
    #expect(before.isEmpty && after == [.source(1)])
  }
}
