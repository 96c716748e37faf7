import LiveKitProtocol
import MediaCore

// What of the published tracks arrives.
extension SessionState {
  /// Brings together what signalling says is published and what the description says is sent, whichever came first.
  mutating func match(_ media: [String: ObjectIdentifier], continuing: Set<ObjectIdentifier>, at now: MediaTime) {
    for sid in roster.sids {
      match(sid, media[sid], isContinuation: media[sid].map { continuing.contains($0) } ?? false, at: now)
    }
  }

  private mutating func match(_ sid: String, _ media: ObjectIdentifier?, isContinuation: Bool, at now: MediaTime) {
    guard let subscription = roster.tracks[sid] else { return }
    guard let media, !subscription.info.isEncrypted else { return matchNothing(sid, media) }
    // A new session begins with all there is.
    let isToCome = subscription.wish.isWanted || !options.autoSubscribe
    switch subscription.media {
    case .live(let stream) where stream.media == media: return
    case .live(let stream) where isContinuation: return goOn(sid, stream, media, at: now)
    case .interrupted(let stream) where isToCome: return resume(sid, stream, media, at: now)
    case .live, .interrupted: unsubscribe(sid)
    case .none: break
    }
    isToCome ? begin(sid, media, at: now) : dismiss(sid, media)
  }

  /// - Parameter media: what comes although nobody can read it; nil where nothing does.
  private mutating func matchNothing(_ sid: String, _ media: ObjectIdentifier?) {
    if roster.tracks[sid]?.isInterrupted == false { unsubscribe(sid) }
    if let media { dismiss(sid, media) } else { roster.tracks[sid]?.dismissed = nil }
  }

  private mutating func begin(_ sid: String, _ media: ObjectIdentifier, at now: MediaTime) {
    noteAllowed(sid)
    change(sid) { [initialSettings] subscription in
      subscription.media = .live(Subscription.Stream(media: media))
      subscription.settings.begin(with: initialSettings)
    }
    act(.begin, sid)
    repeatSettings(of: sid, at: now)
    if options.usesAudioFallback { act(.watchCongestion) }
    note(.codecNotSupported, false, sid)
    beginStream(sid)
  }

  /// The same stream comes in another codec: so does the track, which keeps its renderers.
  private mutating func goOn(
    _ sid: String, _ earlier: Subscription.Stream, _ media: ObjectIdentifier, at now: MediaTime
  ) {
    resume(sid, earlier, media, at: now)
    note(.codecNotSupported, false, sid)
    tell(.codecChanged, sid)
  }

  /// The track is that of another session now, or in another codec, and keeps its renderers.
  private mutating func resume(
    _ sid: String, _ earlier: Subscription.Stream, _ media: ObjectIdentifier, at now: MediaTime
  ) {
    noteAllowed(sid)
    change(sid) {
      $0.media = .live(.init(media: media, isExpected: earlier.isExpected, isLost: earlier.isLost))
      $0.settings.resume()
    }
    act(.resume, sid)
    repeatSettings(of: sid, at: now)
    beginStream(sid)
    if earlier.isLost { act(.noteLoss, sid) }
  }

  mutating func unsubscribe(_ sid: String) {
    guard roster.tracks[sid]?.isSubscribed == true else { return }
    change(sid) { subscription in
      subscription.media = .none
      subscription.streamState = .unknown
      // What keeps the next track's frames from being seen is told anew. Not so a codec: whoever was told that it
      // cannot be decoded here is to hear when frames come in another.
      for reason in VideoChangeReason.allCases where reason != .codecNotSupported {
        _ = subscription.obstacles.set(reason, false)
      }
    }
    settings.end(sid)
    act(.end, sid)
  }

  // MARK: Whether it flows, and why not

  mutating func setMuted(_ isMuted: Bool, _ sid: String) {
    guard let known = roster.tracks[sid], known.info.isMuted != isMuted else { return }
    change(sid) { $0.info.isMuted = isMuted }
    tell(.muted(isMuted), sid)
    noteStream(sid)
  }

  mutating func update(_ info: Livekit_StreamStateInfo) {
    guard change(info.trackSid, { $0.serverState = info.state == .active ? .active : .paused }) != nil else { return }
    noteStreamState(info.trackSid)
    noteStream(info.trackSid)
  }

  private mutating func noteStreamState(_ sid: String) {
    if let state = roster.tracks[sid]?.currentStreamState { set(state, sid) }
  }

  private mutating func set(_ state: StreamState, _ sid: String) {
    guard let known = roster.tracks[sid], known.streamState != state else { return }
    change(sid) { $0.streamState = state }
    tell(.streamState(state), sid)
  }

  /// A track comes from now on: what a server did to an earlier one, or in an earlier session, is over.
  private mutating func beginStream(_ sid: String) {
    change(sid) { $0.serverState = .unknown }
    noteStream(sid)
  }

  /// Something has changed that decides whether media is to come.
  mutating func noteStream(_ sid: String) {
    guard let subscription = roster.tracks[sid], subscription.isSubscribed else { return }
    let (isEnabled, isPaused, isExpected) = subscription.course
    change(sid) { $0.stream?.isExpected = isExpected }
    act(.expect(isExpected), sid)
    noteStreamState(sid)
    note(.publisherPropertyChanged, subscription.info.isMuted, sid)
    note(.subscriberPropertyChanged, !isEnabled, sid)
    note(.qualityChanged, isPaused, sid)
  }

  mutating func note(_ reason: VideoChangeReason, _ isThere: Bool, _ sid: String) {
    guard roster.tracks[sid]?.info.kind == .video, change(sid, { $0.obstacles.set(reason, isThere) }) == true else {
      return
    }
    tell(isThere ? .disabled(reason) : .enabled(reason), sid)
  }

  mutating func decoderChanged(_ error: LiveKitError?, _ sid: String) {
    guard roster.tracks[sid] != nil else { return }
    if let error { tell(.failed(error), sid) }
    note(.codecNotSupported, error != nil, sid)
  }

  mutating func changed(_ change: MediaTimeout.Change, _ sid: String, at now: MediaTime) {
    guard let subscription = roster.tracks[sid], subscription.isSubscribed else { return }
    switch change {
    case .lost: noteLoss(sid)
    case .restored:
      guard self.change(sid, { $0.set(isLost: false) }) == true else { return }
      tell(.restored, sid)
      noteStreamState(sid)
    case .missing: tell(.failed(.noMedia(subscription)), sid)
    // The server says once that a track goes on, and what it says while the connection is lost is lost.
    case .unexpected where subscription.serverState == .paused:
      self.change(sid) { $0.serverState = .active }
      noteStream(sid)
    case .unexpected: break
    case .unabated where subscription.isDisabled && !isRecovering: tellAgain(sid, at: now)
    // All is told again once the connection is back.
    case .unabated: break
    }
  }

  mutating func noteLoss(_ sid: String) {
    guard change(sid, { $0.set(isLost: true) }) == true else { return }
    tell(.lost, sid)
    noteStreamState(sid)
  }

  var publishedCodecs: [String: [String]] { roster.tracks.mapValues(\.info.mimeTypes) }
}
