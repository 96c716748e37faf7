public import MediaBridge

/// A track that an output does not hold, or not to its end, and why.
public struct Omission: Sendable, Equatable {
  /// Empty where something was asked for that was never published.
  public var sid: String
  /// Video or audio.
  public var kind: Track.Kind
  /// Camera, screen share or microphone; `unknown` where its publisher did not say.
  public var source: Track.Source
  /// The identity of its publisher.
  public var participant: String
  /// For people: what keeps it out, and what to do to get it.
  public var reason: String
  /// Whether the output was to hold it: then what was asked for is not all there.
  public var wasWanted: Bool

  /// - Parameter sid: empty where something was asked for that was never published.
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

extension Omission: CustomStringConvertible {
  /// Such as "screen share of alice (TR_VS12): the file holds the camera".
  public var description: String {
    // What is mixed is nobody's.
    if participant.isEmpty, source == .unknown { return "\(kind): \(reason)" }
    return "\(source.spoken(kind)) of \(participant)\(sid.isEmpty ? "" : " (\(sid))"): \(reason)"
  }
}

/// What an output has left out so far, each track once.
struct OmissionList: Sendable {
  private(set) var all: [Omission] = []
  /// Somebody may publish a screen again and again. What was wanted is never thrown out for that.
  private static let limit = 200

  /// - Returns: whether it is news.
  mutating func note(_ omission: Omission) -> Bool {
    if let known = all.firstIndex(where: { $0.sid == omission.sid && $0.source == omission.source }) {
      defer { all[known] = omission }
      return all[known] != omission
    }
    if all.count >= Self.limit {
      guard let oldest = all.firstIndex(where: { !$0.wasWanted }) else { return false }
      all.remove(at: oldest)
    }
    all.append(omission)
    return true
  }

  /// What was missed has come after all; what else was said of it stays.
  mutating func came(_ sid: String) { all.removeAll { $0.sid == sid && $0.wasWanted } }

  /// It is in the output now.
  mutating func forget(_ sid: String) { all.removeAll { $0.sid == sid } }

  func has(_ sid: String) -> Bool { all.contains { $0.sid == sid } }
}
