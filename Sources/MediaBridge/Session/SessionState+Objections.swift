import LiveKitProtocol
import MediaCore

// Tracks that are wanted and do not come, and why.
extension SessionState {
  mutating func update(_ info: Livekit_SubscriptionPermissionUpdate) {
    set(isAllowed: info.allowed, info.trackSid)
  }

  /// A server may say it before it says that the track is published, and says it once.
  mutating func set(isAllowed: Bool, _ sid: String) {
    guard let known = roster.tracks[sid] else { return roster.note(isAllowed: isAllowed, ofUnknown: sid) }
    let isToBeTold = change(sid) { $0.set(isAllowed: isAllowed) } == true
    // A server says so of every new subscription, also where it is no news.
    if known.objections.isAllowed != isAllowed { tell(.allowed(isAllowed), sid) }
    if isToBeTold { tell(.failed(.notAllowed(known)), sid) }
  }

  /// What comes is allowed, where a server may have said so while nobody heard it: it says so once. Otherwise what it said
  /// last holds, and the media is on its way out.
  mutating func noteAllowed(_ sid: String) {
    if roster.tracks[sid]?.objections.isDoubtful == true { set(isAllowed: true, sid) }
  }

  mutating func subscriptionFailed(_ response: Livekit_SubscriptionResponse) {
    guard let subscription = roster.tracks[response.trackSid] else { return }
    let error = LiveKitError(response.err, subscription)
    guard response.err == .seCodecUnsupported else {
      awaited.settle(response.trackSid)
      return tell(.failed(error), response.trackSid)
    }
    refuse(response.trackSid, for: error)
  }

  /// Tells at once what the publication says of itself: that it is encrypted, or that none of its codecs can be decoded
  /// here. A server is asked for the latter all the same, since it may know of another codec.
  mutating func judge(_ sid: String) {
    guard let subscription = roster.tracks[sid] else { return }
    let info = subscription.info
    if info.isEncrypted {
      refuse(sid, for: .encrypted(subscription))
    } else if !info.hasKnownCodec && !subscription.isSubscribed {
      // What comes already says more than what is said of it.
      refuse(sid, for: LiveKitError(.seCodecUnsupported, subscription))
    } else {
      change(sid) { $0.accept() }
    }
  }

  /// Told once, to those who want it.
  private mutating func refuse(_ sid: String, for error: LiveKitError) {
    guard change(sid, { $0.refuse(for: error) }) == true else { return }
    tell(.failed(error), sid)
    if error.code == .unsupportedCodec { note(.codecNotSupported, true, sid) }
    // Nobody needs what nobody can read; a server that subscribes by itself is told so.
    guard error.code == .encrypted, options.autoSubscribe else { return }
    change(sid) { $0.dismissed = $0.stream?.media }
    act(.send(.subscription(to: [sid], isWanted: false)))
  }
}
