import MediaCore

/// What the pages' examples print, for the tests to compare.
enum Printed {
  private static let text = Locked<[String]>([])
  static var lines: [String] { text.withLock { $0 } }
  static func add(_ line: String) { text.withLock { $0.append(line) } }
  static func clear() { text.withLock { $0 = [] } }
}

/// Takes the place of the standard library's in this target, so that the examples stand here as they are.
func print(_ text: String) { Printed.add(text) }
