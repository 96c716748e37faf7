import LiveKitProtocol
import MediaCore

// What the server says, and what it is told of all tracks together.
extension SessionState {
  mutating func received(_ message: Livekit_SignalResponse.OneOf_Message, at now: MediaTime) {
    switch message {
    case .join(let join): joined(join, at: now)
    case .reconnect: resumed(at: now)
    case .update(let update): self.update(update.participants)
    // It comes behind the list, and by chance before: it ends the list only where no offer does.
    case .roomUpdate where !link.isRestartedByOffer: removeUnlisted()
    case .mute(let mute): setMuted(mute.muted, mute.sid)
    case .streamStateUpdate(let update): for state in update.streamStates { self.update(state) }
    case .subscriptionPermissionUpdate(let update): self.update(update)
    case .subscriptionResponse(let response): subscriptionFailed(response)
    case .roomMoved(let moved): self.moved(to: moved)
    case .leave(let leave): failed(SessionFailure(leave), at: now)
    default: break
    }
  }

  /// What was asked for last may have been lost with the connection, and the state says only what is unusual.
  mutating func tellOverdueSubscriptions() {
    for isWanted in [true, false] {
      let overdue = roster.sids {
        isAsked(for: $0) == isWanted && ($0.isSubscribed != isWanted || $0.wish.isUncertain)
      }
      if !overdue.isEmpty { act(.send(.subscription(to: overdue, isWanted: isWanted))) }
    }
  }

  /// Tells the server of a new session what it does not do by itself.
  mutating func tellIfUnusual(_ sids: [String]) {
    let unusual = sids.filter { roster.tracks[$0].map(isUnusual) ?? false }
    if !unusual.isEmpty { act(.send(.subscription(to: unusual, isWanted: !options.autoSubscribe))) }
  }

  /// Nobody wants what is sent. A server that subscribes by itself does so again once the media is connected, whatever
  /// it was told before.
  mutating func dismiss(_ sid: String, _ media: ObjectIdentifier) {
    guard options.autoSubscribe, isSignalled, roster.tracks[sid]?.dismissed != media else { return }
    roster.tracks[sid]?.dismissed = media
    act(.send(.subscription(to: [sid], isWanted: false)))
  }

  /// Whether a server is there that hears what is sent.
  private var isSignalled: Bool {
    switch phase {
    case .joining(let attempt), .recovering(_, let attempt): attempt.isSignalled
    case .standing: true
    case .idle, .waiting, .ended: false
    }
  }

  /// What it says of subscriptions is only what the program asked for, so that a track whose media is not there yet is
  /// not taken for one that is not wanted.
  var syncState: Livekit_SyncState {
    var state = Livekit_SyncState()
    state.subscription.subscribe = !options.autoSubscribe
    state.subscription.trackSids = roster.sids(where: isUnusual)
    state.trackSidsDisabled = roster.sids(where: \.isDisabled)
    state.publishTracks = link.published
    if let negotiation = link.negotiation {
      (state.offer.type, state.offer.sdp) = ("offer", negotiation.offer)
      (state.answer.type, state.answer.sdp) = ("answer", negotiation.answer)
    }
    return state
  }

  /// Whether it is to come: nobody needs what nobody can read.
  private func isAsked(for subscription: Subscription) -> Bool {
    subscription.wish.isWanted && !subscription.info.isEncrypted
  }

  /// Whether something else is to come than a server sends by itself.
  func isUnusual(_ subscription: Subscription) -> Bool { isAsked(for: subscription) != options.autoSubscribe }

  /// Whether it may still come in a new session, and would be missed as what it was in the one before.
  func isAwaited(_ subscription: Subscription) -> Bool {
    subscription.isAbsent && (subscription.isInterrupted || subscription.wish.isWanted != options.autoSubscribe)
  }

  func isAwaited(_ identity: String) -> Bool { roster.tracks(of: identity).contains(where: isAwaited) }
}
