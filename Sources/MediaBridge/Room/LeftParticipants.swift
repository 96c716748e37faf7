import MediaCore

/// Those who have left a moment ago: what an agent has heard of somebody comes when it has been transcribed, up to some
/// seconds later. Pure.
struct LeftParticipants: Sendable {
  /// LiveKit's agents wait for 2 s for the last words of who has left.
  private static let patience = Duration.seconds(10)

  private var all: [String: (participant: RemoteParticipant, time: MediaTime)] = [:]

  mutating func note(_ participant: RemoteParticipant, _ identity: String, at time: MediaTime) {
    all = all.filter { time - $0.value.time < Self.patience }
    all[identity] = (participant, time)
  }

  /// Nil for who has left long ago, or was never there.
  subscript(identity: String, now: MediaTime) -> RemoteParticipant? {
    all[identity].flatMap { now - $0.time < Self.patience ? $0.participant : nil }
  }
}
