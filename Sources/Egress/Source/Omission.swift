public import MediaBridge

/// A track that an output does not hold, or not to its end, and why; a stretch of time of which it holds nothing; or
/// those who would fit as well as the one who is recorded.
public struct Omission: Sendable, Equatable {
  /// Empty where something was asked for that was never published, and of whole participants; of a stretch of time
  /// `connection`, `sleep` or `permission`.
  public var sid: String
  /// Video or audio; `none` of whole participants, and of a stretch of time.
  public var kind: Track.Kind
  /// Camera, screen share or microphone; `unknown` where its publisher did not say.
  public var source: Track.Source
  /// The identity of its publisher; empty of whole participants, and of a stretch of time: `reason` names who it is.
  public var participant: String
  /// For people: what keeps it out, and what to do to get it.
  public var reason: String
  /// Whether the output was to hold it: then what was asked for is not all there.
  public var wasWanted: Bool

  /// All as the properties say.
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
    if kind == .none, participant.isEmpty { return reason }
    // What is mixed is nobody's.
    if participant.isEmpty, source == .unknown { return "\(kind): \(reason)" }
    return "\(source.spoken(kind)) of \(participant)\(sid.isEmpty ? "" : " (\(sid))"): \(reason)"
  }
}

/// What an output has left out so far, each track once.
struct OmissionList: Sendable {
  private var known: [Omission] = []
  /// Somebody may publish a screen again and again. What was wanted is never thrown out for that.
  private static let limit = 200
  /// What was wanted beyond that, which is counted.
  private var others: Set<Int> = []
  /// Some hundred kilobytes.
  private static let mostOthers = 10_000

  /// What was wanted and is only counted stands at the end, in one.
  var all: [Omission] {
    guard !others.isEmpty else { return known }
    return known + [Omission(others: others.count, isAll: others.count < Self.mostOthers)]
  }

  /// - Returns: whether it is news.
  mutating func note(_ omission: Omission) -> Bool {
    if let place = known.firstIndex(where: { $0.sid == omission.sid && $0.source == omission.source }) {
      defer { known[place] = omission }
      return known[place] != omission
    }
    if known.count >= Self.limit {
      guard let oldest = known.firstIndex(where: { !$0.wasWanted }) else { return count(omission) }
      known.remove(at: oldest)
    }
    known.append(omission)
    return others.remove(omission.sid.hashValue) == nil
  }

  /// - Returns: whether it is news.
  private mutating func count(_ omission: Omission) -> Bool {
    guard omission.wasWanted, others.count < Self.mostOthers else { return false }
    return others.insert(omission.sid.hashValue).inserted
  }

  /// What was missed has come after all; what else was said of it stays.
  mutating func came(_ sid: String) {
    known.removeAll { $0.sid == sid && $0.wasWanted }
    others.remove(sid.hashValue)
  }

  /// It is in the output now.
  mutating func forget(_ sid: String) {
    known.removeAll { $0.sid == sid }
    others.remove(sid.hashValue)
  }

  /// A track has another SID from now on.
  mutating func rename(_ old: String, to new: String) {
    guard !has(new) else { return forget(old) }
    for index in known.indices where known[index].sid == old { known[index].sid = new }
    if others.remove(old.hashValue) != nil { others.insert(new.hashValue) }
  }

  func has(_ sid: String) -> Bool { known.contains { $0.sid == sid } || others.contains(sid.hashValue) }
}

extension Omission {
  /// A stretch of time of which nothing is there.
  /// - Parameter cause: stands for the id of a track.
  init(ofTime cause: String, _ reason: String) {
    self.init(sid: cause, kind: .none, source: .unknown, participant: "", reason: reason, wasWanted: true)
  }

  /// Such as "12 s of alice".
  /// - Parameter identity: of who is recorded; nil for all who are there.
  static func stretch(_ length: Duration, of identity: String?) -> String {
    "\(Int(length.seconds.rounded())) s\(identity.map { " of \($0)" } ?? "")"
  }

  /// - Parameters:
  ///   - count: of those that are not told one by one.
  ///   - isAll: whether there are no more than these.
  fileprivate init(others count: Int, isAll: Bool) {
    let words = count == 1 ? "1 more track that was" : "\(isAll ? "" : "at least ")\(count) more tracks that were"
    self.init(
      sid: "", kind: .none, source: .unknown, participant: "", reason: "and \(words) asked for", wasWanted: true)
  }
}
