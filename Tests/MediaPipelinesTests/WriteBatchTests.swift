import MediaCore
import Testing

@testable import MediaPipelines

@Suite struct WriteBatchTests {
  /// Adds one every 40 ms, by its number.
  private func add(_ numbers: Range<Int>, of input: String, to batch: inout WriteBatch<Int>) -> [[String: [Int]]] {
    numbers.map { batch.add($0, of: input, at: .milliseconds(40 * $0)) }
  }

  @Test func whatComesWithinAMomentIsWrittenTogether() {
    var batch = WriteBatch<Int>(limit: .max)
    #expect(add(9..<10, of: "audio", to: &batch) == [["audio": [9]]], "what is first")
    #expect(add(10..<15, of: "audio", to: &batch) == Array(repeating: [:], count: 5))
    #expect(batch.count(of: "audio") == 5 && batch.count(of: "video") == 0)
    #expect(add(15..<16, of: "audio", to: &batch) == [["audio": [10, 11, 12, 13, 14, 15]]])
    #expect(batch.count(of: "audio") == 0)
    #expect(add(16..<21, of: "audio", to: &batch) == Array(repeating: [:], count: 5))
  }

  @Test func allInputsAreWrittenWithTheFirstThatIsDue() {
    var batch = WriteBatch<Int>(limit: .max)
    _ = add(-1..<5, of: "audio", to: &batch)
    #expect(
      add(19..<20, of: "video", to: &batch) == [["audio": [0, 1, 2, 3, 4], "video": [19]]], "the first of another")
    _ = add(5..<10, of: "audio", to: &batch)
    // Later than the audio, but not long.
    _ = add(20..<22, of: "video", to: &batch)
    #expect(add(10..<11, of: "audio", to: &batch) == [["audio": [5, 6, 7, 8, 9, 10], "video": [20, 21]]])
    #expect(batch.take().isEmpty)
  }

  @Test func noMoreWaitThanThereIsRoomFor() {
    var batch = WriteBatch<Int>(limit: 3)
    #expect(add(0..<4, of: "video", to: &batch).last == ["video": [1, 2, 3]])
    var single = WriteBatch<Int>(limit: 1)
    #expect(add(0..<2, of: "video", to: &single) == [["video": [0]], ["video": [1]]])
    // Times that stand still end none by themselves.
    var unlimited = WriteBatch<Int>(limit: .max)
    let written = (0..<1000).map { unlimited.add($0, of: "video", at: .zero).values.flatMap { $0 } }
    #expect(written.map(\.count).max() == WriteBatch<Int>.limit)
    #expect(written.flatMap { $0 } + unlimited.take().values.flatMap { $0 } == Array(0..<1000))
  }
}
