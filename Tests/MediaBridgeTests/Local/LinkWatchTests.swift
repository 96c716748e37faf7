import Testing

@testable import MediaBridge

@Suite("What is said of a narrow link")
struct LinkWatchTests {
  /// - Returns: what is said, by the second in which it is.
  private static func run(_ sent: [Int], wanted: Int = 3) -> [Int: LinkWatch.News] {
    var watch = LinkWatch()
    var said: [Int: LinkWatch.News] = [:]
    for (second, sent) in sent.enumerated() {
      let layers = (0..<3).map { rank in
        SentLayer(
          rid: "", bitrate: rank < sent ? 100_000 : nil, isWanted: rank < wanted, isLimited: rank >= sent, leftOut: 0)
      }
      said[second] = watch.look([layers])
    }
    return said
  }

  @Test func whatFitsIsNotTalkedOf() {
    #expect(Self.run([3, 3, 3, 3, 3, 3, 3, 3]).isEmpty)
  }

  @Test func layersThatNobodyWantsAreNotMissed() {
    #expect(Self.run([1, 1, 1, 1, 1, 1, 1, 1], wanted: 1).isEmpty)
  }

  @Test func whatStaysOutIsSaidOnceAndThatItIsBack() {
    let narrow = Array(repeating: 1, count: 10)
    let wide = Array(repeating: 3, count: 10)
    #expect(Self.run([3] + narrow + wide + narrow) == [3: .limited, 16: .whole, 23: .limited])
  }

  @Test func aMomentIsNotTalkedOf() {
    #expect(Self.run([3, 2, 2, 3, 3, 2, 3, 3, 3]).isEmpty)
    // A layer that is tried and does not fit.
    #expect(Self.run([1, 1, 1, 1, 3, 3, 1, 1, 3, 3, 3, 1, 1, 1, 1, 1]) == [2: .limited])
  }
}
