package import MediaCore

/// Whether more is to come of a command whose readers begin and end one after the other. Pure.
package struct RawCourse: Sendable {
  /// How far a reader's media is.
  package enum Stage: Sendable {
    /// Nothing has come yet.
    case waiting
    case running
    /// All is there that was asked for.
    case done
    /// The reader takes no more.
    case ended
  }

  /// When those who have left would have sent all that was asked for.
  private var leftUntil: MediaTime?

  package init() {}

  /// - Parameter rest: what is missing of what was asked for; nil where there is no limit.
  package mutating func noteLeft(_ rest: Duration?, at now: MediaTime) {
    guard let rest else { return }
    leftUntil = max(leftUntil ?? now, now + max(rest, .zero))
  }

  /// Whoever has sent nothing by then is not waited for.
  /// - Parameter othersMayCome: for readers of their own, which nothing limits.
  package func isOver(_ stages: [Stage], othersMayCome: Bool, at now: MediaTime) -> Bool {
    let open = stages.filter { $0 != .ended }
    guard open.isEmpty else { return open.contains(.done) && !open.contains(.running) }
    guard stages.isEmpty else { return !othersMayCome }
    return leftUntil.map { now >= $0 } ?? false
  }
}
