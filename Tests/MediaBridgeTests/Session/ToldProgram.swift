@testable import MediaBridge

/// What a program has by what it was told, and what it must never be told.
struct ToldProgram {
  struct Publication {
    let identity: String
    var shown: Subscription
    var hasTrack = false
    var isLost = false
    var isDisabled = false
    var isMuted: Bool
  }

  enum Course: Equatable {
    case connecting
    case connected
    case reconnecting(ReconnectMode)
    case ended
  }

  private(set) var course = Course.connecting
  private(set) var members: Set<String> = []
  private(set) var publications: [String: Publication] = [:]

  /// - Returns: what was wrong with it.
  mutating func take(_ action: SessionAction) -> String? {
    guard course != .ended else { return "told after the end: \(action)" }
    return switch action {
    case .connection: nil
    case .room(let state): take(state)
    case .member(let identity, let action): take(action, identity)
    case .track(_, let sid, let action): take(action, sid)
    }
  }

  private mutating func take(_ state: SessionAction.RoomState) -> String? {
    let old = course
    switch state {
    case .connected:
      course = .connected
      return old == .connecting ? nil : "connected while \(old)"
    case .reconnecting(let mode, let isNew, _):
      course = .reconnecting(mode)
      return old == (isNew ? .connected : .reconnecting(.quick)) ? nil : "reconnecting \(mode) while \(old)"
    case .reconnected(let mode):
      course = .connected
      return old == .reconnecting(mode) ? nil : "reconnected \(mode) while \(old)"
    case .ended:
      course = .ended
      return publications.isEmpty ? nil : "ended with \(publications.keys)"
    }
  }

  private mutating func take(_ action: SessionAction.Member, _ identity: String) -> String? {
    switch action {
    case .meet: return members.insert(identity).inserted ? nil : "\(identity) is met twice"
    case .learn: return members.contains(identity) ? nil : "\(identity) is not there"
    case .leave:
      guard !publications.values.contains(where: { $0.identity == identity }) else {
        return "\(identity) leaves tracks"
      }
      return members.remove(identity) != nil ? nil : "\(identity) leaves twice"
    case .publish(let shown):
      guard members.contains(identity), publications[shown.sid] == nil else { return "\(shown.sid) is published twice" }
      publications[shown.sid] = Publication(identity: identity, shown: shown, isMuted: shown.info.isMuted)
    case .rename(let old, let new):
      guard publications[new] == nil, let known = publications.removeValue(forKey: old) else { return "no \(old)" }
      publications[new] = known
    }
    return nil
  }

  private mutating func take(_ action: SessionAction.Track, _ sid: String) -> String? {
    guard var known = publications[sid] else { return "\(sid) is not published: \(action)" }
    var isRight = true
    switch action {
    case .show(let shown): known.shown = shown
    case .begin: (isRight, known.hasTrack) = (!known.hasTrack, true)
    case .resume: isRight = known.hasTrack
    // What stopped the frames of one track is told anew of the next.
    case .end: (isRight, known.hasTrack, known.isLost, known.isDisabled) = (known.hasTrack, false, false, false)
    case .unpublish: isRight = !known.hasTrack
    case .tell(let news): isRight = known.take(news)
    case .expect, .noteLoss, .restricted: break
    }
    publications[sid] = known
    if case .unpublish = action { publications[sid] = nil }
    return isRight ? nil : "\(sid) is told \(action)"
  }
}

extension ToldProgram.Publication {
  fileprivate mutating func take(_ news: SessionAction.News) -> Bool {
    switch news {
    case .muted(let new):
      defer { isMuted = new }
      return new != isMuted
    case .disabled:
      defer { isDisabled = true }
      return !isDisabled
    case .enabled:
      defer { isDisabled = false }
      return isDisabled
    case .lost:
      defer { isLost = true }
      return hasTrack && !isLost
    case .restored:
      defer { isLost = false }
      return isLost
    case .codecChanged: return hasTrack
    case .allowed, .streamState, .failed: return true
    }
  }
}
