package import MediaBridge
package import MediaCore

/// What is told while media is waited for that is to be handed on or shown, as `record` tells it. Pure.
package struct RawSearch: Sendable {
  private var progress = SearchProgress<RemoteParticipant>()

  package init() {}

  /// A mistyped name would be waited for in vain: after some time it is told who is there.
  /// - Parameter people: who is in the room.
  /// - Returns: what is waited for, in words; nil where that was told, or where there is something that is to come.
  package mutating func news(
    of choice: RawChoice, among people: some Collection<RemoteParticipant>, at now: MediaTime
  ) -> String? {
    var found: [(owner: RemoteParticipant, publication: RemoteTrackPublication)] = []
    for participant in people where choice.accepts(participant) {
      for publication in participant.trackPublications.values where choice.accepts(publication) {
        found.append((participant, publication))
      }
    }
    guard !found.isEmpty else {
      if progress.takesLong(at: now), progress.hint == nil { progress.note(hint: choice.hint(among: people)) }
      return news(choice.wish + (progress.hint.map { " (\($0))" } ?? ""))
    }
    guard found.allSatisfy({ $0.publication.isMuted }) else { return nil }
    let owners = Set(found.map { $0.owner.identity ?? $0.owner.sid })
    let tracks = Set(found.map { "the " + $0.publication.source.spoken($0.publication.kind) }).sorted()
    let owner = owners.count == 1 ? owners.first : nil
    return news("\(owner ?? "somebody") to unmute \(tracks.joined(separator: " or "))")
  }

  private mutating func news(_ missing: String) -> String? { progress.isNews(missing) ? missing : nil }
}

extension RawChoice {
  /// Who is there, or what is published, instead of what is waited for; nil where that is published, and for nobody and
  /// nothing.
  package func hint(among people: some Collection<RemoteParticipant>) -> String? {
    let isThere = people.contains { accepts($0) && $0.trackPublications.values.contains(where: accepts) }
    guard !isThere else { return nil }
    let all = people.map { RoomCensus.Person($0, named: !names.isEmpty, bySID: !sids.isEmpty) }
    return RoomCensus(people: all).hint(insteadOf: participants)
  }
}
