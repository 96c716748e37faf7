import MediaBridge
import MediaCore

/// The tracks that one output needs: subscribed to while it does.
final class SubscriptionLease: Sendable {
  private let need: OutputNeed
  private let held = Locked<[RemoteTrackPublication]>([])

  init(_ need: OutputNeed = .everything) { self.need = need }

  func add(_ publication: RemoteTrackPublication) async {
    let isNew = held.withLock { held in
      guard !held.contains(where: { $0 === publication }) else { return false }
      held.append(publication)
      return true
    }
    if isNew { await publication.hold(need) }
  }

  /// Drops one that is no longer published.
  func forget(_ publication: RemoteTrackPublication) { held.withLock { $0.removeAll { $0 === publication } } }

  /// Gives back all but those.
  func keep(only needed: [RemoteTrackPublication]) async {
    let others = held.withLock { held in
      let isNeeded = { (publication: RemoteTrackPublication) in needed.contains { $0 === publication } }
      defer { held.removeAll { !isNeeded($0) } }
      return held.filter { !isNeeded($0) }
    }
    for publication in others { await publication.release(need) }
  }
}
