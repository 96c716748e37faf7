/// The difference of two texts, line by line, as `diff -u` writes it.
public struct UnifiedDiff: CustomStringConvertible, Sendable {
  /// The whole of it, with its two lines of names; empty when both texts are the same.
  public let description: String

  private static let context = 3

  private enum Line {
    case same(Substring)
    case removed(Substring)
    case added(Substring)

    var isChange: Bool { if case .same = self { false } else { true } }
    var text: String {
      switch self {
      case .same(let text): " \(text)"
      case .removed(let text): "-\(text)"
      case .added(let text): "+\(text)"
      }
    }
  }

  /// - Parameters:
  ///   - old: what lines are taken from.
  ///   - new: what lines are added by.
  ///   - oldName: what the first line of the difference says.
  ///   - newName: what its second line says.
  public init(from old: String, to new: String, oldName: String, newName: String) {
    let lines = Self.lines(Self.split(old), Self.split(new))
    let hunks = Self.hunks(in: lines).map { Self.text(of: lines, $0) }
    description = hunks.isEmpty ? "" : "--- \(oldName)\n+++ \(newName)\n" + hunks.joined()
  }

  private static func split(_ text: String) -> [Substring] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.last == "" ? lines.dropLast() : lines
  }

  private static func lines(_ old: [Substring], _ new: [Substring]) -> [Line] {
    let difference = new.difference(from: old)
    var removed = Set<Int>()
    var added = Set<Int>()
    for change in difference {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): added.insert(offset)
      }
    }
    var lines: [Line] = []
    var (i, j) = (0, 0)
    while i < old.count || j < new.count {
      if i < old.count, removed.contains(i) {
        lines.append(.removed(old[i]))
        i += 1
      } else if j < new.count, added.contains(j) {
        lines.append(.added(new[j]))
        j += 1
      } else {
        lines.append(.same(old[i]))
        (i, j) = (i + 1, j + 1)
      }
    }
    return lines
  }

  /// Changes with what stands around them; those that are close to each other are told together.
  private static func hunks(in lines: [Line]) -> [Range<Int>] {
    var hunks: [Range<Int>] = []
    for index in lines.indices where lines[index].isChange {
      let range = max(0, index - context)..<min(lines.count, index + context + 1)
      if let last = hunks.last, last.upperBound >= range.lowerBound {
        hunks[hunks.count - 1] = last.lowerBound..<range.upperBound
      } else {
        hunks.append(range)
      }
    }
    return hunks
  }

  private static func text(of lines: [Line], _ hunk: Range<Int>) -> String {
    let before = lines[..<hunk.lowerBound]
    let place = { (isOld: Bool) in
      let start = before.filter { counts($0, isOld) }.count
      let length = lines[hunk].filter { counts($0, isOld) }.count
      return "\(length == 0 ? start : start + 1),\(length)"
    }
    return "@@ -\(place(true)) +\(place(false)) @@\n" + lines[hunk].map { $0.text + "\n" }.joined()
  }

  private static func counts(_ line: Line, _ isOld: Bool) -> Bool {
    switch line {
    case .same: true
    case .removed: isOld
    case .added: !isOld
    }
  }
}
