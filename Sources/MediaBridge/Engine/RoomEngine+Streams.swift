import LiveKitProtocol
import MediaCore

// Whether what is subscribed flows, and why not.
extension RoomEngine {
  func setMuted(_ isMuted: Bool, trackSid: String) {
    guard let (participant, publication) = find(trackSid) else { return }
    setMuted(isMuted, publication, of: participant)
  }

  func setMuted(_ isMuted: Bool, _ publication: RemoteTrackPublication, of participant: RemoteParticipant) {
    if let track = publication.track, track.state.set(\.isMuted, to: isMuted) { track.mutingChanged() }
    guard publication.info.set(\.isMuted, to: isMuted) else { return }
    room.tell(.muteChanged(participant, publication, isMuted: isMuted))
    noteStream(of: publication, by: participant)
  }

  func update(_ info: Livekit_StreamStateInfo) {
    guard let (participant, publication) = find(info.trackSid) else { return }
    change(publication, of: participant, to: info.state == .active ? .active : .paused)
    noteStream(of: publication, by: participant)
  }

  private func change(_ publication: RemoteTrackPublication, of participant: RemoteParticipant, to state: StreamState) {
    guard publication.subscription.set(\.streamState, to: state) else { return }
    room.tell(.streamStateChanged(participant, publication, state))
  }

  /// A track comes from now on: what a server did to an earlier one, or in an earlier session, is over.
  func beginStream(of publication: RemoteTrackPublication, by participant: RemoteParticipant) {
    change(publication, of: participant, to: .unknown)
    noteStream(of: publication, by: participant)
  }

  /// A track comes no more: what keeps the next one's pictures from being seen is told anew. Not so a codec: whoever was
  /// told that it cannot be decoded here is to hear when pictures come in another.
  func endStream(of publication: RemoteTrackPublication) {
    publication.subscription.withLock { subscription in
      for reason in VideoChangeReason.allCases where reason != .codecNotSupported {
        _ = subscription.obstacles.set(reason, false)
      }
    }
  }

  /// Something has changed that decides whether media is to come.
  func noteStream(of publication: RemoteTrackPublication, by participant: RemoteParticipant) {
    let (isSubscribed, told, isPausedThere) = publication.subscription.withLock {
      ($0.track != nil, $0.toldSettings ?? TrackSettings(), $0.streamState == .paused)
    }
    guard isSubscribed else { return }
    let (isEnabled, isPaused) = (told.isEnabled, isPausedThere || told.restriction == .noVideo)
    let isMuted = publication.isMuted
    let isExpected = isEnabled && !isPaused && !isMuted
    publication.subscription.withLock { $0.isExpected = isExpected }
    subscriber?.expect(isExpected, of: publication.sid)
    note(.publisherPropertyChanged, isMuted, publication, of: participant)
    note(.subscriberPropertyChanged, !isEnabled, publication, of: participant)
    note(.qualityChanged, isPaused, publication, of: participant)
  }

  func note(
    _ reason: VideoChangeReason, _ isThere: Bool, _ publication: RemoteTrackPublication,
    of participant: RemoteParticipant
  ) {
    guard publication.kind == .video, publication.subscription.withLock({ $0.obstacles.set(reason, isThere) }) else {
      return
    }
    room.tell(
      isThere ? .videoDisabled(participant, publication, reason) : .videoEnabled(participant, publication, reason))
  }

  /// Media that arrives cannot be decoded, or shown; or, with nil, a decoder begins.
  func decoderChanged(_ error: LiveKitError?, trackSid: String) {
    guard !isOver, let (participant, publication) = find(trackSid) else { return }
    if let error {
      logger.warning("a track is not decoded", metadata: ["track": "\(trackSid)", "reason": "\(error.message)"])
      tell(error, publication, of: participant)
    }
    note(.codecNotSupported, error != nil, publication, of: participant)
  }

  /// What one track is shown in or played through has failed, while it is decoded as before.
  func failed(_ track: Track, _ error: LiveKitError) {
    guard !isOver, let (participant, publication) = track.sid.flatMap(find), publication.track === track else { return }
    tell(error, publication, of: participant)
  }

  func makePlayback() -> Playback {
    Playback(factory: playbackFactory) { [weak self] error, track in
      Task { await self?.playbackFailed(error, of: track) }
    }
  }

  private func playbackFailed(_ error: LiveKitError, of track: RemoteAudioTrack?) {
    if let track { return failed(track, error) }
    if !isOver { room.tell(.audioPlaybackFailed(error)) }
  }

  func streamChanged(_ change: StreamWatch.Change, trackSid: String) {
    guard let (participant, publication) = find(trackSid), let track = publication.track else { return }
    switch change {
    case .lost: noteLoss(of: track, publication, by: participant)
    case .restored:
      if publication.subscription.set(\.isLost, to: false) {
        room.tell(.streamRestored(participant, publication, track))
      }
    case .missing:
      tell(.noMedia(publication, of: participant), publication, of: participant)
    }
  }

  func noteLoss(of track: Track, _ publication: RemoteTrackPublication, by participant: RemoteParticipant) {
    if publication.subscription.set(\.isLost, to: true) { room.tell(.streamLost(participant, publication, track)) }
  }
}
