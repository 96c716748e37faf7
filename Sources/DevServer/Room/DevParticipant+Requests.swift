import Foundation
import LiveKitProtocol
import PeerTransport

// What a client asks for.
extension DevParticipant {
  func handle(_ request: Livekit_SignalRequest) {
    guard !hasLeft else { return }
    configuration.onRequest(identity, request)
    switch request.message {
    case .offer(let offer): publisher.receive(offer: offer)
    case .answer(let answer): subscriber.receive(answer: answer)
    case .trickle(let trickle): handle(trickle)
    case .addTrack(let track): publisher.add(track)
    case .mute(let mute): publisher.setMuted(mute.muted, trackSid: mute.sid)
    case .updateVideoTrack(let update): publisher.resize(update)
    case .subscription(let update): handle(update)
    case .syncState(let state): handle(state)
    case .trackSetting(let settings):
      for sid in settings.trackSids { subscriber.apply(settings, trackSid: sid) }
    case .subscriptionPermission(let permission):
      subscriptionPermission = permission
      room.permissionsChanged(of: self)
    case .updateMetadata(let update): handle(update)
    case .pingReq(let ping): answer(ping)
    case .ping(let timestamp):
      var response = Livekit_SignalResponse()
      response.pong = timestamp
      send(response)
    case .leave:
      info.disconnectReason = .clientInitiated
      hasLeft = true
    default: break
    }
  }

  private func answer(_ ping: Livekit_Ping) {
    var response = Livekit_SignalResponse()
    response.pongResp.lastPingTimestamp = ping.timestamp
    response.pongResp.timestamp = Int64(Date().timeIntervalSince1970 * 1000)
    send(response)
  }

  /// Whether `participant` may receive this one's track. Who records is let in wherever it is, as with LiveKit's server.
  func allows(_ participant: DevParticipant, trackSid: String) -> Bool {
    if participant.isRecorder { return true }
    guard let permission = subscriptionPermission, !permission.allParticipants else { return true }
    return permission.trackPermissions.contains { entry in
      let isMeant =
        entry.participantIdentity.isEmpty
        ? entry.participantSid == participant.sid : entry.participantIdentity == participant.identity
      return isMeant && (entry.allTracks || entry.trackSids.contains(trackSid))
    }
  }

  private func handle(_ update: Livekit_UpdateParticipantMetadata) {
    var response = Livekit_SignalResponse()
    response.requestResponse.requestID = update.requestID
    guard info.permission.canUpdateMetadata else {
      response.requestResponse.reason = .notAllowed
      response.requestResponse.message = "the token does not grant canUpdateOwnMetadata"
      return send(response)
    }
    if !update.name.isEmpty { info.name = update.name }
    if !update.metadata.isEmpty { info.metadata = update.metadata }
    // An empty value removes an attribute.
    info.attributes.merge(update.attributes) { _, new in new }
    info.attributes = info.attributes.filter { !$0.value.isEmpty }
    response.requestResponse.reason = .ok
    room.announce(self)
    // As LiveKit's server does it.
    if protocolVersion > 14 { send(response) }
    refreshToken()
  }

  /// What a client that has come back asked for before.
  private func handle(_ state: Livekit_SyncState) {
    for sid in state.trackSidsDisabled {
      var settings = Livekit_UpdateTrackSettings()
      settings.disabled = true
      subscriber.apply(settings, trackSid: sid)
    }
    handle(state.subscription)
  }

  private func handle(_ trickle: Livekit_TrickleRequest) {
    guard let candidate = CandidateInit.parse(trickle.candidateInit) else { return }
    trickle.target == .publisher ? publisher.add(candidate) : subscriber.add(candidate)
  }

  private func handle(_ update: Livekit_UpdateSubscription) {
    let sids = update.trackSids + update.participantTracks.flatMap(\.trackSids)
    for sid in sids {
      if !update.subscribe {
        subscriber.unsubscribe(from: sid)
      } else if let (track, owner) = room.track(sid: sid) {
        subscriber.subscribe(to: track, of: owner)
      } else {
        subscriber.sendError(.seTrackNotfound, trackSid: sid)
      }
    }
  }
}
