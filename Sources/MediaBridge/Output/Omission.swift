/// A track that an output does not hold, or not to its end, and why.
public struct Omission: Sendable, Equatable {
  /// Empty where something was asked for that was never published.
  public var sid: String
  public var kind: Track.Kind
  public var source: Track.Source
  /// The identity of its publisher.
  public var participant: String
  /// For people: what keeps it out, and what to do to get it.
  public var reason: String
  /// Whether the output was to hold it: then what was asked for is not all there.
  public var wasWanted: Bool

  public init(
    sid: String, kind: Track.Kind, source: Track.Source, participant: String, reason: String, wasWanted: Bool
  ) {
    self.sid = sid
    self.kind = kind
    self.source = source
    self.participant = participant
    self.reason = reason
    self.wasWanted = wasWanted
  }
}
