import Foundation
import ParserExercises

/// `fuzz TARGET [options of libFuzzer]` and `fuzz seeds CORPUS FOLDER`, which writes the corpus as libFuzzer reads it.
///
/// libFuzzer brings no main of its own here: SwiftPM renames the one of an executable to this.
@_cdecl("fuzz_main")
func main(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
  let words = CommandLine.arguments
  if words.count == 4, words[1] == "seeds" { return writeSeeds(from: words[2], to: words[3]) }
  guard words.count > 1, let exercise = Exercise(rawValue: words[1]) else {
    let names = Exercise.allCases.map(\.rawValue).joined(separator: "|")
    FileHandle.standardError.write(
      Data("usage: fuzz \(names) [options of libFuzzer]\n       fuzz seeds CORPUS FOLDER\n".utf8))
    return 2
  }
  selected = exercise
  // libFuzzer reads its own options behind the name of the program.
  var argc = count - 1
  var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = arguments + 1
  return runDriver(&argc, &argv) { bytes, count in
    _ = selected.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
  }
}

/// Set once, before libFuzzer starts, and read on its only thread.
nonisolated(unsafe) private var selected = Exercise.rtp

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
  _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

private func writeSeeds(from corpus: String, to folder: String) -> Int32 {
  do {
    for exercise in Exercise.allCases {
      let target = URL(filePath: folder).appending(path: exercise.rawValue)
      try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
      for (name, bytes) in try Corpus.load(exercise, in: URL(filePath: corpus)) {
        try Data(bytes).write(to: target.appending(path: "seed-" + name))
      }
    }
    return 0
  } catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    return 1
  }
}
