import Foundation
import ParserExercises
import Testing

/// Whatever arrives, nothing traps, and what is handed on keeps its promises. Debug builds check every index.
@Suite("Inputs of the fuzzer")
struct CorpusTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Corpus")

  /// Seeds, and all that a fuzzer once found.
  @Test(arguments: Exercise.allCases) func theCorpusIsSurvived(exercise: Exercise) throws {
    let inputs = try Corpus.load(exercise, in: Self.folder)
    let results = inputs.map { exercise.run($0.bytes) }
    #expect(results.contains { $0 > 0 }, "a corpus that is refused as a whole proves nothing")
  }

  /// The fuzzer goes deeper; this much is done at every run of the tests.
  /// Of data what is changed is mostly of a stream that is not open.
  @Test(arguments: [(Exercise.rtcp, 100), (.signal, 100), (.data, 5)], 0..<4)
  func mutationsAreSurvived(of target: (exercise: Exercise, least: Int), seed: UInt64) throws {
    let exercise = target.exercise
    let seeds = try Corpus.load(exercise, in: Self.folder)
    let first = seeds.filter { ["join.hex", "header.hex"].contains($0.name) }.map(\.bytes)
    var mutator = Mutator(seeds: seeds.map(\.bytes), seed: seed &+ 100)
    var reached = 0
    for _ in 0..<150 { reached += exercise.run(steps(first + (0..<20).map { _ in mutator.next() })) }
    #expect(reached > target.least)
  }

  @Test(arguments: 0..<4)
  func mutatedPacketsThatFollowEachOtherAreSurvived(seed: UInt64) throws {
    var mutator = Mutator(seeds: try Corpus.load(.rtp, in: Self.folder).map(\.bytes), seed: seed)
    var handedOn = 0
    for _ in 0..<30 {
      let packets = (0..<250).map { index in
        var bytes = mutator.next()
        // Most follow in sequence, or all would end at the first hurdle.
        if index % 4 != 0 && bytes.count >= 12 {
          bytes.replaceSubrange(2..<4, with: [UInt8(index / 256 & 255), UInt8(index & 255)])
        }
        return bytes
      }
      handedOn += Exercise.rtp.run(steps(packets, every: 3))
    }
    #expect(handedOn > 1000)
  }
}
