import Foundation
import ParserExercises

// libFuzzer's own main calls these two. `FUZZ_TARGET` says which exercise gets the inputs; `FUZZ_SEEDS` names the folder
// of our corpus, which is written, as libFuzzer reads it, into the folder that is the first argument.

/// Set once, before the first input, and read on libFuzzer's only thread.
nonisolated(unsafe) private var selected = Exercise.rtp

@_cdecl("LLVMFuzzerInitialize")
func initialize(
  _ count: UnsafePointer<Int32>, _ arguments: UnsafePointer<UnsafePointer<UnsafePointer<CChar>?>>
) -> Int32 {
  let environment = ProcessInfo.processInfo.environment
  guard let exercise = environment["FUZZ_TARGET"].flatMap(Exercise.init) else {
    fail("FUZZ_TARGET must be one of \(Exercise.allCases.map(\.rawValue).joined(separator: ", "))")
  }
  selected = exercise
  guard let corpus = environment["FUZZ_SEEDS"], count.pointee > 1, let folder = arguments.pointee[1] else { return 0 }
  do {
    try writeSeeds(exercise, from: URL(filePath: corpus), to: URL(filePath: String(cString: folder)))
  } catch {
    fail("the seeds cannot be written: \(error)")
  }
  return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
func runOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  selected.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}

private func writeSeeds(_ exercise: Exercise, from corpus: URL, to folder: URL) throws {
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  for (name, bytes) in try Corpus.load(exercise, in: corpus) {
    try Data(bytes).write(to: folder.appending(path: "seed-" + name))
  }
}

private func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data((message + "\n").utf8))
  exit(2)
}
