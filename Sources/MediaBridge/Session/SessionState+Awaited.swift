import LiveKitProtocol
import MediaCore

// Tracks that are asked for, and that the server does not begin to send.
extension SessionState {
  mutating func followSubscriptions(at now: MediaTime) {
    guard case .standing = phase else { return awaited.pause() }
    let sids = maySubscribe ? roster.sids(where: \.isDue) : []
    awaited.follow(Set(sids), at: now)
  }

  /// Whoever may receive nothing waits for nothing.
  private var maySubscribe: Bool { !ourselves.hasPermission || ourselves.permission.canSubscribe }

  mutating func pollSubscriptions(at now: MediaTime) {
    for sid in awaited.poll(at: now) {
      if let subscription = roster.tracks[sid] { tell(.failed(.notSent(subscription)), sid) }
    }
  }
}

extension Subscription {
  /// Whether the server has been asked for it, has said nothing that is in the way, and has not begun to send it. Of
  /// one that is muted it may have nothing yet.
  fileprivate var isDue: Bool {
    guard wish.isWanted, !isSubscribed, !isAbsent else { return false }
    return objections.isAllowed && objections.refusal == nil && info.kind != .none && !info.isMuted
  }
}
