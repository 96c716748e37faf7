import LiveKitProtocol

import struct Foundation.Date

/// Who is in the room, and what they publish.
struct Roster: Sendable {
  struct Member: Sendable {
    /// The server's id of this stay.
    var sid: String
    /// Counts what was said of it.
    var version: UInt32 = 0
    /// When it began; nil where the server does not say.
    var joinedAt: Date?
    /// Was there before the session was lost, and is not in the new one yet.
    var isAbsent = false

    init(_ info: Livekit_ParticipantInfo) {
      (sid, version) = (info.sid, info.version)
      joinedAt = Date(serverMilliseconds: info.joinedAtMs, seconds: info.joinedAt)
    }

    /// Whether that was said earlier than what is known: LiveKit's server may send two updates the wrong way round
    /// (`SendParticipantUpdate`), and repeats neither.
    func outdates(_ info: Livekit_ParticipantInfo) -> Bool { !isAbsent && sid == info.sid && info.version < version }

    /// Whether that is said of a later stay, with which this one has ended. Departures that are repeated at a resume
    /// have no time, and may be of an earlier one.
    func precedes(_ info: Livekit_ParticipantInfo) -> Bool {
      guard let joinedAt, let later = Self(info).joinedAt else { return false }
      return joinedAt < later
    }
  }

  /// By identity.
  var members: [String: Member] = [:]
  /// By SID.
  var tracks: [String: Subscription] = [:]
  /// What a server that goes on with the session has said of who is there.
  var list = ParticipantList.complete
  /// Tracks that may not be received, of which nobody has said yet that they are published.
  var denied: Set<String> = []
  /// As many as a server that names what never comes is believed.
  private static let deniedLimit = 1000

  /// Whether something of the session before has not come back in this one.
  var isIncomplete: Bool {
    members.values.contains(where: \.isAbsent) || tracks.values.contains { $0.isAbsent || $0.isInterrupted }
  }

  mutating func note(isAllowed: Bool, ofUnknown sid: String) {
    guard !isAllowed else {
      denied.remove(sid)
      return
    }
    if denied.count >= Self.deniedLimit { denied = [] }
    denied.insert(sid)
  }

  func identity(sid: String) -> String? { members.first { $0.value.sid == sid }?.key }

  /// Who has left. Of one who comes back under the same identity LiveKit's server says nothing but the end of the later
  /// stay where that is short (`SupportsIdentityBasedReconnection`).
  func identity(leavingBy info: Livekit_ParticipantInfo) -> String? {
    identity(sid: info.sid) ?? (members[info.identity]?.precedes(info) == true ? info.identity : nil)
  }

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
