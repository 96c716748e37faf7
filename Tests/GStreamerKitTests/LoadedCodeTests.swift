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

  @Test func itIsGivenBackAtOnceBeforeMoreIsLoaded() throws {
    let pipeline = try Pipeline(description: "fakesrc ! avdec_h264 ! fakesink", name: "test")
    readCode(of: "libavfilter")
    try #require(residentCode(of: "libavfilter") ?? 0 > 1000)
    try loadSomething()
    GStreamer.releaseLoadedCode()
    #expect((residentCode(of: "libavfilter") ?? .max) < 300)
    _ = consume pipeline
  }

  /// A library that nobody has loaded: the copy of one.
  private func loadSomething() throws {
    let folder = try TemporaryFolder()
    let line = try #require(mappings().first { $0.contains("/libgstapp-1.0.so") })
    let original = try #require(line.split(separator: " ").last.map(String.init))
    try FileManager.default.copyItem(atPath: original, toPath: folder.path + "/copy.so")
    try #require(dlopen(folder.path + "/copy.so", RTLD_NOW) != nil)
  }
}

private func mappings() -> [String] {
  let data = try? FileHandle(forReadingAtPath: "/proc/self/maps")?.readToEnd()
  return String(decoding: data ?? Data(), as: UTF8.self).split(separator: "\n").map(String.init)
}

/// Makes all code of a library resident.
private func readCode(of library: String) {
  for line in mappings() where line.contains("/\(library).so") && line.contains(" r-xp ") {
    let addresses = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
    for address in stride(from: addresses[0], to: addresses[1], by: 4096) {
      // Sound: the library stays loaded, and its code is readable.
      _ = UnsafeRawPointer(bitPattern: address)?.load(as: UInt8.self)
    }
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
