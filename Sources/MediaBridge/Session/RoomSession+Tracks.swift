import LiveKitProtocol
import MediaCore

// Participants, publications and tracks become what the state says.
extension RoomSession {
  func perform(_ action: SessionAction.Member, _ identity: String) {
    switch (action, room.remoteParticipants[identity]) {
    case (.meet(let info), _): meet(info)
    case (.learn(let info), let participant?): room.learn(info, of: participant)
    case (.leave, let participant?): remove(participant, identity)
    case (.publish(let subscription), let participant?): publish(subscription, by: participant)
    case (.rename(let old, let new), let participant?):
      if let publication = participant.publication(sid: old) { participant.rename(publication, to: new) }
    case (_, nil): break
    }
  }

  private func meet(_ info: Livekit_ParticipantInfo) {
    let participant = RemoteParticipant(info: .init(info))
    room.state.withLock { $0.participants[info.identity] = participant }
    room.tell(.participantConnected(participant))
    releaseMessages(of: info.identity, isAnnounced: true)
  }

  private func remove(_ participant: RemoteParticipant, _ identity: String) {
    room.state.withLock { state in
      state.participants[identity] = nil
      state.left.note(participant, identity, at: .now)
    }
    room.stopSpeaking(participant)
    // Whoever keeps them finds that they have left.
    participant.info.withLock { $0.state = .disconnected }
    cutMessages(of: participant, identity)
    room.tell(.participantDisconnected(participant))
  }

  private func publish(_ subscription: Subscription, by participant: RemoteParticipant) {
    let publication = RemoteTrackPublication(subscription, requests: self)
    participant.insert(publication)
    room.tell(.trackPublished(participant, publication))
  }

  // MARK: Tracks

  func perform(
    _ action: SessionAction.Track, _ publication: RemoteTrackPublication, of participant: RemoteParticipant
  ) {
    let sid = publication.sid
    switch action {
    case .show(let subscription): publication.show(subscription)
    case .unpublish:
      _ = participant.remove(sid: sid)
      room.tell(.trackUnpublished(participant, publication))
    case .begin: if let media = link.media[sid] { begin(publication, of: participant, media) }
    case .resume: if let media = link.media[sid] { resume(publication, media) }
    case .end: end(publication, of: participant)
    case .expect(let isExpected): link.transport?.expect(isExpected, of: sid)
    case .noteLoss: link.transport?.noteLoss(of: sid)
    case .restricted(let restriction):
      logger.debug("audio fallback", metadata: ["track": "\(sid)", "restriction": "\(restriction)"])
    case .tell(let news): tell(news, publication, of: participant)
    }
  }

  private func begin(_ publication: RemoteTrackPublication, of participant: RemoteParticipant, _ media: TrackMedia) {
    let info = publication.info.withLock { $0 }
    let hooks = TrackHooks(
      tell: { [weak room] in room?.tell($0) },
      demandChanged: { [weak self] track in self?.demandChanged(of: track) },
      failed: { [weak self] track, error in Task { await self?.failed(track, error) } })
    let track: Track =
      media.isVideo
      ? RemoteVideoTrack(media: media, info: info, hooks: hooks)
      : RemoteAudioTrack(media: media, info: info, hooks: hooks)
    track.state.withLock { $0.trackState = .started }
    publication.receivedTrack = track
    if let statistics = services.statistics {
      track.beginStatistics(statistics, isWanted: options.reportRemoteTrackStatistics)
    }
    logger.debug(
      "track subscribed",
      metadata: [
        "participant": "\(participant.identity ?? participant.sid)", "track": "\(publication.sid)",
        "codec": "\(media.codec)",
      ])
    // Before anybody can add a renderer.
    watchDecoder(of: media)
    room.tell(.trackSubscribed(participant, publication, track))
    if let track = track as? RemoteAudioTrack { services.playback?.add(track) }
  }

  private func resume(_ publication: RemoteTrackPublication, _ media: TrackMedia) {
    logger.debug("track goes on", metadata: ["track": "\(publication.sid)", "codec": "\(media.codec)"])
    watchDecoder(of: media)
    publication.receivedTrack?.resume(with: media)
  }

  private func end(_ publication: RemoteTrackPublication, of participant: RemoteParticipant) {
    guard let track = publication.receivedTrack else { return }
    // Whoever sees it gone from its publication finds that it has ended.
    track.end.come()
    publication.receivedTrack = nil
    track.state.withLock { $0.trackState = .stopped }
    track.needsChanged()
    track.endStatistics()
    track.mutingChanged()
    if let track = track as? RemoteAudioTrack { services.playback?.remove(track) }
    logger.debug("track unsubscribed", metadata: ["track": "\(publication.sid)"])
    room.tell(.trackUnsubscribed(participant, publication, track))
  }

  private func watchDecoder(of media: TrackMedia) {
    media.onDecoderChange { [weak self, sid = media.trackSid] error in
      self?.decoderNews.add { [weak self] in await self?.decoderChanged(error, sid) }
    }
  }

  private func decoderChanged(_ error: LiveKitError?, _ sid: String) {
    if let error {
      logger.warning("a track is not decoded", metadata: ["track": "\(sid)", "reason": "\(error.message)"])
    }
    handle(.decoder(sid: sid, error))
  }

  // MARK: News

  private func tell(
    _ news: SessionAction.News, _ publication: RemoteTrackPublication, of participant: RemoteParticipant
  ) {
    if case .muted(let isMuted) = news { mute(publication, isMuted) }
    if let event = RoomEvent(news, publication, of: participant) { room.tell(event) }
  }

  private func mute(_ publication: RemoteTrackPublication, _ isMuted: Bool) {
    guard let track = publication.receivedTrack, track.state.set(\.isMuted, to: isMuted) else { return }
    track.mutingChanged()
  }

  /// What one track is shown in or played through has failed, while it is decoded as before.
  func failed(_ track: Track, _ error: LiveKitError) {
    guard !state.isEnded, let (participant, publication) = track.sid.flatMap(find),
      publication.receivedTrack === track
    else { return }
    room.tell(.subscriptionFailed(participant, trackSid: publication.sid, error))
  }

  func playbackFailed(_ error: LiveKitError, of track: RemoteAudioTrack?) {
    if let track { return failed(track, error) }
    if !state.isEnded { room.tell(.audioPlaybackFailed(error)) }
  }
}

extension RoomEvent {
  /// nil for what is told of a track that has gone.
  fileprivate init?(
    _ news: SessionAction.News, _ publication: RemoteTrackPublication, of participant: RemoteParticipant
  ) {
    switch (news, publication.receivedTrack) {
    case (.muted(let isMuted), _): self = .muteChanged(participant, publication, isMuted: isMuted)
    case (.allowed(let isAllowed), _):
      self = .subscriptionAllowedChanged(participant, publication, isAllowed: isAllowed)
    case (.streamState(let state), _): self = .streamStateChanged(participant, publication, state)
    case (.disabled(let reason), _): self = .videoDisabled(participant, publication, reason)
    case (.enabled(let reason), _): self = .videoEnabled(participant, publication, reason)
    case (.failed(let error), _): self = .subscriptionFailed(participant, trackSid: publication.sid, error)
    case (.codecChanged, let track?): self = .codecChanged(participant, publication, track)
    case (.lost, let track?): self = .streamLost(participant, publication, track)
    case (.restored, let track?): self = .streamRestored(participant, publication, track)
    case (.codecChanged, nil), (.lost, nil), (.restored, nil): return nil
    }
  }
}
