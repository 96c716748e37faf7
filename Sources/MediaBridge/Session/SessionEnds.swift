import MediaCore

/// What of a session is ending, each part of which may hang: they end beside one another, and are waited for together.
struct SessionEnds: Sendable {
  private var begun: [(name: String, end: Outcome<Void, LiveKitError>)] = []

  /// - Parameters:
  ///   - name: for the log, where it does not end.
  ///   - work: returns when nothing is left of it.
  mutating func begin(_ name: String, _ work: @escaping @Sendable () async -> Void) {
    begun.append((name, .end(of: work)))
  }

  /// Returns once all have ended, or at `limit`.
  /// - Returns: the names of those that have not.
  func left(at limit: MediaTime) async -> [String] {
    var left: [String] = []
    for (name, end) in begun {
      let isOver = await end.comes(by: limit)
      if !isOver { left.append(name) }
    }
    return left
  }
}
