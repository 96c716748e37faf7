import Foundation

/// What a process holds, as /proc shows it.
public struct Footprint: Sendable {
  public var threads: Int
  public var descriptors: Int

  public static var current: Footprint {
    func count(_ path: String) -> Int { (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? 0 }
    return Footprint(threads: count("/proc/self/task"), descriptors: count("/proc/self/fd"))
  }
}
