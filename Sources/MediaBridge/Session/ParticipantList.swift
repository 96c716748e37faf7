import LiveKitProtocol

/// Whom a server names that goes on with a session: everybody who is there. Of the departures that were lost with the
/// connection it repeats only the newest, so whoever is not named has left.
enum ParticipantList: Sendable {
  /// The identities of those of whom something is said before it: the server does not hold that back for the list.
  case awaited(Set<String>)
  /// The identities so far; what changes meanwhile comes between.
  case begun(Set<String>)
  case complete

  /// - Parameters:
  ///   - infos: of others, in one update.
  ///   - beginsIt: whether the list has that update, and not only what follows.
  mutating func add(_ infos: [Livekit_ParticipantInfo], beginsIt: Bool) {
    let present = infos.filter { $0.state != .disconnected }.map(\.identity)
    switch self {
    case .awaited(let named) where beginsIt: self = .begun(named.union(present))
    case .awaited(let named): self = .awaited(named.union(present))
    case .begun(let named): self = .begun(named.union(present))
    case .complete: break
    }
  }

  /// None has come: nobody is missed.
  mutating func giveUpWaiting() { if case .awaited = self { self = .complete } }

  var isComplete: Bool { if case .complete = self { true } else { false } }
}
