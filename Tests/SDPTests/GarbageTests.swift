import Foundation
import ParserExercises
import Testing

@testable import SDP

/// Errors are allowed here, traps are not; what is read must survive being written and read again.
@Suite struct GarbageTests {
  @Test(arguments: try Sample.names()) func replaysTheCorpus(name: String) throws {
    Self.exercise(try Sample.text(name))
  }

  @Test(arguments: 0..<4) func survivesMutations(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let samples = try Sample.good.map { Array(try Sample.text($0).utf8) }
    for round in 0..<25_000 {
      // Most of the time a piece of a sample, so that 10^5 rounds stay quick.
      var bytes = Self.piece(of: samples[round % samples.count], &random)
      for _ in 0..<Int.random(in: 1...6, using: &random) { Self.mutate(&bytes, &random) }
      Self.exercise(String(decoding: bytes, as: UTF8.self), answering: round % 16 == 0)
    }
  }

  private static func piece(of sample: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
    if Int.random(in: 0..<64, using: &random) == 0 { return sample }
    let start = Int.random(in: 0..<sample.count, using: &random)
    let head = Array(
      "v=0\r\no=- 1 1 IN IP4 0\r\na=group:BUNDLE 0 1 2\r\nm=video 9 UDP/TLS/RTP/SAVPF 96 97 111\r\n".utf8)
    return head + sample[start..<min(sample.count, start + 400)]
  }

  private static func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
    guard !bytes.isEmpty else { return }
    let index = Int.random(in: 0..<bytes.count, using: &random)
    let separators = Array("\r\n :;=/,~*0\u{0}9".utf8)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
    case 1: bytes.remove(at: index)
    case 2: bytes.insert(separators.randomElement(using: &random) ?? 0, at: index)
    case 3: bytes.removeSubrange(index..<min(bytes.count, index + 20))
    case 4: bytes.insert(contentsOf: bytes[index..<min(bytes.count, index + 40)], at: index)
    default: bytes.insert(contentsOf: Array("18446744073709551616".utf8), at: index)
    }
  }

  private static func exercise(_ text: String, answering: Bool = true) {
    guard let session = try? SessionDescription(parsing: text) else { return }
    let written = session.description
    #expect(throws: Never.self) {
      let again = try SessionDescription(parsing: written)
      #expect(again.description == written)
    }
    guard answering else { return }
    let answer = Answer(
      to: session, origin: Sample.origin, capabilities: .server(), transport: Sample.transport)
    #expect(answer.description.media.count == session.media.count)
    #expect((try? SessionDescription(parsing: answer.description.description)) == answer.description)
  }
}
