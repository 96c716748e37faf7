import Foundation
import Glibc

/// Bytes that the C library has given out and not got back: unlike the memory of a process this does not depend on how
/// it is spread over arenas and pages.
public func heapInUse() -> Int? {
  typealias MallocInfo = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
  guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "malloc_info"), let file = tmpfile() else {
    return nil
  }
  defer { fclose(file) }
  // The signature is the one of malloc_info(3).
  guard unsafeBitCast(symbol, to: MallocInfo.self)(0, file) == 0 else { return nil }
  rewind(file)
  var text = ""
  var line = [CChar](repeating: 0, count: 512)
  while fgets(&line, Int32(line.count), file) != nil {
    text += String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
  // The totals of all arenas come last.
  let totals = text.components(separatedBy: "</heap>").last ?? ""
  func size(_ element: String) -> Int {
    totals.split(separator: "\n").first { $0.hasPrefix("<\(element)") }
      .flatMap { $0.components(separatedBy: "size=\"").last?.split(separator: "\"").first }.flatMap { Int($0) } ?? 0
  }
  return size("system type=\"current\"") + size("total type=\"mmap\"") - size("total type=\"fast\"")
    - size("total type=\"rest\"")
}
