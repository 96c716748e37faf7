/// Who is in the room, and what they publish.
struct Roster: Sendable {
  struct Member: Sendable {
    /// The server's id of this stay.
    var sid: String
    /// Was there before the session was lost, and is not in the new one yet.
    var isAbsent = false
  }

  /// By identity.
  var members: [String: Member] = [:]
  /// By SID.
  var tracks: [String: Subscription] = [:]
  /// What a server that goes on with the session has said of who is there.
  var list = ParticipantList.complete

  /// Whether something of the session before has not come back in this one.
  var isIncomplete: Bool {
    members.values.contains(where: \.isAbsent) || tracks.values.contains { $0.isAbsent || $0.isInterrupted }
  }

  func identity(sid: String) -> String? { members.first { $0.value.sid == sid }?.key }

  /// What a participant publishes, in an order that stays.
  func tracks(of identity: String) -> [Subscription] {
    tracks.values.filter { $0.identity == identity }.sorted { $0.sid < $1.sid }
  }

  var sids: [String] { tracks.keys.sorted() }
  var identities: [String] { members.keys.sorted() }

  func sids(where condition: (Subscription) -> Bool) -> [String] {
    tracks.values.filter(condition).map(\.sid).sorted()
  }
}
