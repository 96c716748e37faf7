import Foundation
import ParserExercises
import Testing

@testable import PipelineTemplates

/// Errors are allowed here, traps are not.
@Suite struct TemplateGarbageTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Corpus/templates")

  private static func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".pipeline") }.sorted()
  }

  private static func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: folder.appendingPathComponent(name)), as: UTF8.self)
  }

  @Test(arguments: try names()) func goodOnesAreReadAndBadOnesAreRefused(name: String) throws {
    let text = try Self.text(name)
    if name.hasPrefix("bad-") {
      #expect(throws: TemplateError.self) { try Template(kind: .output, name: "t", file: name, text: text) }
    } else {
      let template = try Template(kind: .output, name: "t", file: name, text: text)
      #expect(!template.variables.isEmpty && !template.summary.isEmpty)
    }
  }

  /// Without values the text comes out as it was written: nothing but variables is touched.
  @Test func textWithoutVariablesIsKept() throws {
    let text = "a b=\"c \\\" d\" e='f g' h = i\\ j ! video/x-raw, width=1 ! ( k.sink_0 )\n"
    #expect(try Template(kind: .output, name: "t", file: "t", text: text).fill().description == text)
  }

  @Test(arguments: 0..<2) func survivesMutations(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let samples = try Self.names().map { Array(try Self.text($0).utf8) }
    for round in 0..<10_000 {
      var bytes = samples[round % samples.count]
      for _ in 0..<Int.random(in: 1...6, using: &random) { Self.mutate(&bytes, &random) }
      let text = String(decoding: bytes, as: UTF8.self)
      guard let template = try? Template(kind: .receive, name: "t", file: "t", text: text) else { continue }
      let values = Dictionary(uniqueKeysWithValues: template.variables.map { ($0.name, "1") })
      let lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false).count
      guard let filled = try? template.fill(values) else { continue }
      #expect(filled.elements.allSatisfy { (1...lines).contains($0.line) })
      #expect((1...lines).contains(filled.line(atOffset: Int.random(in: 0..<500, using: &random))))
      _ = filled.contractViolation
    }
  }

  private static func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
    guard !bytes.isEmpty else { return }
    let index = Int.random(in: bytes.indices, using: &random)
    let syntax = Array("\"'\\${}:-=! \n#/,;.()".utf8)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: bytes[index] = .random(in: .min ... .max, using: &random)
    case 1: bytes.remove(at: index)
    case 2: bytes.insert(syntax[Int.random(in: syntax.indices, using: &random)], at: index)
    case 3: bytes.removeSubrange(index..<min(bytes.count, index + 12))
    default: bytes.insert(contentsOf: Array("${x:-\\".utf8), at: index)
    }
  }
}
