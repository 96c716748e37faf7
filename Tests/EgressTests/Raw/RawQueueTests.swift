import MediaCore
import Testing

@testable import Egress

/// What waits for a slow reader.
@Suite struct RawQueueTests {
  typealias Queue = RawQueue<Int>

  private func piece(_ number: Int, _ size: Int, at milliseconds: Int, isNeeded: Bool = false) -> Queue.Piece {
    Queue.Piece(
      .bytes([UInt8](repeating: 1, count: size)), made: Self.time(milliseconds), subject: isNeeded ? "all" : nil,
      note: number)
  }
  private static func time(_ milliseconds: Int) -> MediaTime {
    MediaTime(nanoseconds: 0) + .milliseconds(milliseconds)
  }

  @Test func whatIsTooOldIsDropped() {
    var queue = Queue(.init(age: .milliseconds(500), bytes: 1_000_000))
    var dropped: [Int?] = []
    for number in 0..<30 {
      dropped += queue.put(piece(number, 100, at: 40 * number), at: Self.time(40 * number)).map(\.note)
    }
    #expect(dropped == Array(0...16))
    #expect(queue.take()?.note == 17 && queue.count == 12)
  }

  @Test func memoryIsBounded() {
    var queue = Queue(.init(bytes: 1000))
    for number in 0..<1000 { _ = queue.put(piece(number, 300, at: 0), at: Self.time(0)) }
    #expect(queue.count == 3 && queue.bytes == 900)
    #expect((0..<3).map { _ in queue.take()?.note } == [997, 998, 999])
    #expect(queue.isEmpty && queue.bytes == 0 && queue.take() == nil)
  }

  @Test func whatIsNeededStays() {
    var queue = Queue(.init(age: .milliseconds(100), bytes: 1000))
    _ = queue.put(piece(0, 300, at: 0, isNeeded: true), at: Self.time(0))
    for number in 1..<20 { _ = queue.put(piece(number, 300, at: 50 * number), at: Self.time(50 * number)) }
    #expect(queue.take()?.note == 0)
    #expect(queue.take()?.note == 18)
  }

  @Test func silenceTakesThePlaceOfSamples() {
    var queue = Queue(.init(bytes: 1000, keepsLength: true))
    var put = 0
    for number in 0..<500 {
      _ = queue.put(piece(number, 100, at: 0), at: Self.time(0))
      put += 100
    }
    var sizes: [Int] = []
    while let piece = queue.take() { sizes.append(piece.size) }
    #expect(sizes.reduce(0, +) == put, "nothing that follows is out of its place")
    #expect(sizes.count == 11, "silence needs no memory")
  }
}
