import BridgeTesting
import Foundation
import GStreamerKit
import Testing

@Suite struct LoadedCodeTests {
  /// `libav` brings filters that no pipeline here uses; still the loader reads a megabyte of them.
  @Test func whatTheLoaderReadIsGivenBack() async throws {
    let pipeline = try Pipeline(description: "fakesrc ! avdec_h264 ! fakesink", name: "test")
    #expect(residentCode(of: "libavfilter") != nil, "the library is not loaded, so this shows nothing")
    try await eventually("the filters' code is given back") {
      (residentCode(of: "libavfilter") ?? .max) < 300
    }
    _ = consume pipeline
  }
}

/// Kilobytes of a library's file that count as this process's memory and were never written to; nil when it is not loaded.
private func residentCode(of library: String) -> Int? {
  // Not `String(contentsOfFile:)`, which ends where the kernel pauses.
  let data = try? FileHandle(forReadingAtPath: "/proc/self/smaps")?.readToEnd()
  var (total, isCode, size) = (Int?.none, false, 0)
  for line in String(decoding: data ?? Data(), as: UTF8.self).split(separator: "\n") {
    let words = line.split(separator: " ")
    // A mapping begins with its addresses and ends with its file.
    if words[0].contains("-") { isCode = words[1].hasPrefix("r-") && line.contains("/\(library).so") }
    guard isCode, words.count > 1, let kilobytes = Int(words[1]) else { continue }
    if words[0] == "Rss:" { size = kilobytes }
    if words[0] == "Anonymous:", kilobytes == 0 { total = (total ?? 0) + size }
  }
  return total
}
