import LiveKitProtocol

/// Whom a server names that goes on with a session: everybody who is there. Of the departures that were lost with the
/// connection it repeats only the newest, so whoever is not named has left.
enum ParticipantList: Sendable {
  case awaited
  /// The identities so far; what changes meanwhile comes between.
  case begun(Set<String>)
  case complete

  /// - Parameter infos: of others, in one update. Repeated departures are one of their own, before the list.
  mutating func add(_ infos: [Livekit_ParticipantInfo]) {
    let present = infos.filter { $0.state != .disconnected }.map(\.identity)
    switch self {
    case .awaited where !present.isEmpty || infos.isEmpty: self = .begun(Set(present))
    case .begun(let named): self = .begun(named.union(present))
    case .awaited, .complete: break
    }
  }

  var isComplete: Bool { if case .complete = self { true } else { false } }
}
