import LiveKitProtocol
import MediaCore

// What the program asks for, and what the server is told of it.
extension SessionState {
  mutating func asked(_ event: SessionEvent, at now: MediaTime) {
    switch event {
    case .want(let sid, let isWanted): want(sid, isWanted)
    case .hold(let sid, let need): hold(sid, need, at: now)
    case .release(let sid, let need): release(sid, need, at: now)
    case .configure(let sid, let wanted):
      change(sid) { $0.settings.wanted = wanted }
      settings.change(sid, at: now)
    case .configurationFailed(let sid): change(sid) { $0.settings.fallBack() }
    case .demandChanged(let sid): if roster.tracks[sid] != nil { settings.change(sid, at: now) }
    case .confirmed(.settings(let message, _)): for sid in message.sids { noteStream(sid) }
    case .unconfirmed(.settings(_, let earlier)): restore(earlier)
    case .unconfirmed(.subscription(let sid, let earlier?)): change(sid) { $0.want(again: earlier) }
    default: break
    }
  }

  private mutating func want(_ sid: String, _ isWanted: Bool) {
    guard let earlier = roster.tracks[sid]?.wish else { return }
    change(sid) { $0.want(isWanted) }
    tellSubscription(of: sid, earlier: earlier)
  }

  private mutating func hold(_ sid: String, _ need: OutputNeed, at now: MediaTime) {
    guard let isNew = change(sid, { $0.hold(need) }) else { return }
    // Without a connection there is nothing to subscribe to, which whoever waits for the track is told.
    isNew ? tellSubscription(of: sid, earlier: nil) : settings.change(sid, at: now)
  }

  private mutating func release(_ sid: String, _ need: OutputNeed, at now: MediaTime) {
    guard let isLast = change(sid, { $0.release(need) }) else { return }
    isLast ? tellSubscription(of: sid, earlier: nil) : settings.change(sid, at: now)
  }

  /// - Parameter earlier: what is to hold again when the server cannot be told.
  mutating func tellSubscription(of sid: String, earlier: Subscription.Wish?) {
    guard let isWanted = roster.tracks[sid]?.wish.isWanted else { return }
    if isWanted { judge(sid) }
    guard !isRecovering else { return subscriptionChangedMeanwhile(sid, isWanted) }
    if roster.tracks[sid]?.info.isEncrypted == true, isWanted { return }
    change(sid) { $0.tell() }
    act(
      .confirm(.subscription(to: [sid], isWanted: isWanted), .subscription(sid: sid, earlier: earlier)))
    // It may be sent already, and then no offer comes.
    if isWanted, roster.tracks[sid]?.isSubscribed == false { act(.matchTracks) }
  }

  /// It is told once the connection is back.
  private mutating func subscriptionChangedMeanwhile(_ sid: String, _ isWanted: Bool) {
    change(sid) { $0.postpone() }
    if !isWanted, roster.tracks[sid]?.isInterrupted == true { unsubscribe(sid) }
  }

  // MARK: Settings

  /// The server of a new session has forgotten what was asked for, and is told again; so is one that goes on in another
  /// codec, whose layers may be others. Until then the publication says what was told before, so that what the program
  /// did does not seem to end and to begin anew. What the link made of it is over.
  mutating func repeatSettings(of sid: String, at now: MediaTime) {
    change(sid) { $0.arrival = Subscription.Arrival() }
    let told = roster.tracks[sid]?.settings.told
    // Where the publication says something else the server is told in any case: what it is told the publication says.
    settings.begin(sid, with: told == initialSettings ? told : nil, at: now)
  }

  /// How a server begins a track by itself that it knows nothing of; nil when that is its own choice. With adaptive
  /// stream it begins with the smallest layer, or with what it likes.
  var initialSettings: TrackSettings? { options.usesAdaptiveStream ? nil : TrackSettings() }

  mutating func pollSettings(at now: MediaTime, _ demand: (String) -> TrackDemand) {
    guard !isEnded, let deadline = settings.nextDeadline, deadline <= now else { return }
    let (tracks, isAdaptive) = (roster.tracks, options.usesAdaptiveStream)
    let messages = settings.poll(at: now) { sid in
      tracks[sid]?.settingsToTell(isAdaptive ? demand(sid) : nil)
    }
    for message in messages { tell(message) }
    act(.settingsTold)
  }

  /// What was paused comes all the same. LiveKit's server does not heed a pause while it holds a track back for the
  /// way's sake (`Forwarder.Mute`), and forgets one that comes before it is ready to send (`SubscribedTrack.Bound`).
  /// What it knows already it passes over, so it is told something else before.
  mutating func tellAgain(_ sid: String, at now: MediaTime) {
    var request = Livekit_SignalRequest()
    request.trackSetting = Livekit_UpdateTrackSettings(TrackSettings(quality: .low), trackSids: [sid])
    act(.send(request))
    settings.forget(sid, at: now)
  }

  /// What it is told the publication says at once: while this is on its way the next may be told.
  private mutating func tell(_ message: SettingsSchedule.Message) {
    var earlier: [String: TrackSettings?] = [:]
    for sid in message.sids {
      change(sid) { subscription in
        earlier[sid] = .some(subscription.settings.told)
        subscription.settings.told = message.settings
      }
    }
    var request = Livekit_SignalRequest()
    request.trackSetting = Livekit_UpdateTrackSettings(message.settings, trackSids: message.sids)
    act(.confirm(request, .settings(message, earlier: earlier)))
  }

  private mutating func restore(_ earlier: [String: TrackSettings?]) {
    for (sid, told) in earlier { change(sid) { $0.settings.told = told } }
  }

  // MARK: Audio fallback

  /// How tracks arrive decides what is asked of those with frames.
  mutating func measured(_ measurements: [String: SessionEvent.Measurement], at now: MediaTime) {
    for (sid, measurement) in measurements where roster.tracks[sid]?.stream?.media == measurement.media {
      // It may be another one meanwhile, which counts for itself.
      change(sid) { subscription in
        subscription.arrival.losses.add(measurement.count, at: now)
        subscription.arrival.decoding.add(measurement.decoding, at: now)
      }
    }
    for sid in roster.sids(where: { $0.info.kind == .video }) {
      if let demand = measurements[sid]?.demand { decide(sid, demand, at: now) }
    }
  }

  private mutating func decide(_ sid: String, _ demand: TrackDemand, at now: MediaTime) {
    guard let subscription = roster.tracks[sid],
      let wanted = subscription.wantedSettings(options.usesAdaptiveStream ? demand : nil)
    else { return }
    let info = subscription.info
    let isAudioPoor = roster.tracks.values.contains { $0.info.kind == .audio && $0.isPoor }
    let (losses, decoding) = (subscription.arrival.losses, subscription.arrival.decoding)
    let observation = AudioFallback.Observation(
      loss: isAudioPoor ? losses.lossBeforeRepair : losses.loss, undecoded: decoding.loss,
      hasLowerLayer: info.simulcasted && wanted.exceedsLowest(of: info.layers),
      isRestWell: roster.tracks.values.allSatisfy { $0.sid == sid || !$0.strains(at: now) })
    guard change(sid, { $0.arrival.poll(observation, at: now) }) == true,
      let restriction = roster.tracks[sid]?.arrival.fallback.restriction
    else { return }
    act(.restricted(restriction), sid)
    settings.change(sid, at: now)
  }
}

extension Subscription.Arrival {
  fileprivate mutating func poll(_ observation: AudioFallback.Observation, at now: MediaTime) -> Bool {
    guard fallback.poll(observation, at: now) else { return false }
    losses.restart()
    decoding.restart()
    return true
  }
}

extension Subscription.Settings {
  /// What the server knows is wanted again, since it could not be told of anything else.
  fileprivate mutating func fallBack() {
    wanted = told ?? TrackSettings()
    wanted.restriction = .none
  }
}
