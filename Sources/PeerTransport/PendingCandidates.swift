/// The peer's candidates that came ahead of its description, and have nowhere to go until then.
public struct PendingCandidates: Sendable {
  /// Whether the description is there that candidates belong to.
  public private(set) var isDescribed = false
  private var waiting: [String] = []
  /// Far more than a peer has; what comes beyond is dropped.
  private static let most = 64

  /// Nothing is described yet.
  public init() {}

  /// - Returns: whether the candidate is to be added now; else it waits, if not too many do.
  public mutating func isReady(_ candidate: String) -> Bool {
    if !isDescribed, waiting.count < Self.most { waiting.append(candidate) }
    return isDescribed
  }

  /// The description has come.
  /// - Parameter own: the candidates in it.
  /// - Returns: those that are to be added now.
  public mutating func described(with own: [String] = []) -> [String] {
    isDescribed = true
    defer { waiting = [] }
    return own + waiting
  }

  /// Another description is to come first.
  public mutating func awaitDescription() { isDescribed = false }
}
