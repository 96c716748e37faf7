import LiveKitProtocol
import MediaCore

// What a participant publishes, and what of it arrives.
extension RoomEngine {
  func updateTracks(of participant: RemoteParticipant, _ tracks: [TrackInfo]) {
    let published = Set(tracks.map(\.sid))
    for (sid, publication) in participant.trackPublications where !published.contains(sid) {
      // In a new session it may still come.
      if !isAwaited(publication) { unpublish(sid, of: participant) }
    }
    var returned: [RemoteTrackPublication] = []
    var haveOtherCodecs = false
    for info in tracks {
      guard let publication = participant.publication(sid: info.sid) else {
        let publication = RemoteTrackPublication(info: info, isWanted: autoSubscribe, requests: self)
        participant.insert(publication)
        room.tell(.trackPublished(participant, publication))
        judge(publication, of: participant)
        continue
      }
      if publication.subscription.set(\.isAbsent, to: false) { returned.append(publication) }
      publication.info.withLock { known in
        haveOtherCodecs = haveOtherCodecs || known.mimeTypes != info.mimeTypes
        let wasMuted = known.isMuted
        known = info
        known.isMuted = wasMuted
      }
      setMuted(info.isMuted, publication, of: participant)
      judge(publication, of: participant)
    }
    tellIfUnusual(returned)
    if haveOtherCodecs { Task { await codecsChanged() } }
  }

  func removeTracks(of participant: RemoteParticipant) {
    for sid in participant.trackPublications.keys { unpublish(sid, of: participant) }
  }

  func unpublish(_ sid: String, of participant: RemoteParticipant) {
    guard let publication = participant.publication(sid: sid) else { return }
    unsubscribe(publication, of: participant)
    _ = participant.remove(sid: sid)
    room.tell(.trackUnpublished(participant, publication))
  }

  func unsubscribe(_ publication: RemoteTrackPublication, of participant: RemoteParticipant) {
    guard let track = publication.track else { return }
    publication.subscription.withLock { ($0.track, $0.isInterrupted, $0.isLost) = (nil, false, false) }
    settings.end(publication.sid)
    endStream(of: publication)
    track.state.withLock { $0.trackState = .stopped }
    track.needsChanged()
    track.endStatistics()
    track.end.come()
    track.mutingChanged()
    if let track = track as? RemoteAudioTrack { playback?.remove(track) }
    logger.debug("track unsubscribed", metadata: ["track": "\(publication.sid)"])
    room.tell(.trackUnsubscribed(participant, publication, track))
  }

  /// A track may have become one that can be decoded here.
  private func codecsChanged() async {
    await subscriber?.learn(codecs: publishedCodecs)
    await matchTracks()
  }

  /// Brings together what signalling says is published and what the description says is sent, whichever came first.
  func matchTracks() async {
    guard let subscriber else { return }
    let media = await subscriber.media
    // That of a session that has been lost meanwhile says nothing.
    guard subscriber === self.subscriber else { return }
    for participant in room.remoteParticipants.values {
      for publication in participant.trackPublications.values {
        match(publication, of: participant, media[publication.sid])
      }
    }
  }

  private func match(_ publication: RemoteTrackPublication, of participant: RemoteParticipant, _ media: TrackMedia?) {
    let (isInterrupted, isWanted) = publication.subscription.withLock { ($0.isInterrupted, $0.isWanted) }
    guard let media, publication.encryptionType == .none else {
      if !isInterrupted { unsubscribe(publication, of: participant) }
      return
    }
    if let track = publication.track {
      guard track.incoming !== media else { return }
      if isInterrupted { return goOn(track, publication, of: participant, media) }
      unsubscribe(publication, of: participant)
    }
    // A new session begins with all there is.
    guard isWanted || !autoSubscribe else { return }
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
    publication.subscription.withLock { $0.track = track }
    if let statistics { track.beginStatistics(statistics, isWanted: options.reportRemoteTrackStatistics) }
    logger.debug(
      "track subscribed",
      metadata: [
        "participant": "\(participant.identity ?? participant.sid)", "track": "\(publication.sid)",
        "codec": "\(media.codec)",
      ])
    // Before anybody can add a renderer.
    watchDecoder(of: media)
    beginSettings(of: publication)
    room.tell(.trackSubscribed(participant, publication, track))
    note(.codecNotSupported, false, publication, of: participant)
    beginStream(of: publication, by: participant)
    if let track = track as? RemoteAudioTrack { playback?.add(track) }
  }

  /// The track is that of another session now, and keeps its renderers.
  private func goOn(
    _ track: Track, _ publication: RemoteTrackPublication, of participant: RemoteParticipant, _ media: TrackMedia
  ) {
    logger.debug("track goes on", metadata: ["track": "\(publication.sid)", "codec": "\(media.codec)"])
    publication.subscription.withLock { $0.isInterrupted = false }
    watchDecoder(of: media)
    track.goOn(with: media)
    repeatSettings(of: publication)
    beginStream(of: publication, by: participant)
    if publication.subscription.withLock({ $0.isLost }) { subscriber?.noteLoss(of: publication.sid) }
  }

  private func watchDecoder(of media: TrackMedia) {
    media.onDecoderChange { [weak self, sid = media.trackSid] error in
      Task { await self?.decoderChanged(error, trackSid: sid) }
    }
  }

  var publishedCodecs: [String: [String]] {
    Dictionary(publications.map { ($0.sid, $0.info.withLock { $0.mimeTypes }) }) { _, newest in newest }
  }

  func find(_ sid: String) -> (RemoteParticipant, RemoteTrackPublication)? {
    for participant in room.remoteParticipants.values {
      if let publication = participant.publication(sid: sid) { return (participant, publication) }
    }
    return nil
  }
}
