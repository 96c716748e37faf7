import Foundation

/// What this process holds of the machine, as /proc shows it.
public struct Footprint: Sendable, CustomStringConvertible {
  public let threads: Int
  /// Those of them that are of the pools of Dispatch, GLib and NIO, which follow the load of the machine.
  public let pooled: Int
  public let descriptors: Int
  /// Bytes of memory that no file backs.
  public let memory: Int
  /// Bytes of it that are given out.
  public let heap: Int

  public static var current: Footprint {
    let names = threadNames
    return Footprint(
      threads: names.count, pooled: names.count(where: isPooled), descriptors: entries(of: "/proc/self/fd"),
      memory: (kilobytes("RssAnon") ?? 0) * 1024, heap: heapInUse() ?? 0)
  }

  /// Those that carry media or run a loop, among others: each is there for something.
  public var working: Int { threads - pooled }

  /// Linux keeps 15 letters of a name, of which Dispatch gives the last ones.
  private static func isPooled(_ name: String) -> Bool {
    name.hasSuffix("-qos") || name.hasSuffix(".overcommit") || name.hasPrefix("pool-") || name.hasPrefix("NIO-SGLTN")
  }

  /// The name of each thread, for the message of a test that finds too many.
  public static var threadNames: [String] {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return threads.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
      .map { $0.trimmingCharacters(in: .newlines) }.sorted()
  }

  private static func entries(of folder: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: folder))?.count ?? 0
  }

  private static func kilobytes(_ field: String) -> Int? {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
  }

  public var description: String {
    "\(working) threads and \(pooled) of pools, \(descriptors) descriptors, \(memory / 1024) KiB with \(heap / 1024) KiB in use"
  }
}
