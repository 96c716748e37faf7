extension RoomEvent {
  func tell(_ delegate: any RoomDelegate, of room: Room) {
    switch self {
    case .connectionStateChanged(let state, let old):
      delegate.room(room, didUpdateConnectionState: state, from: old)
      if state == .reconnecting { delegate.roomIsReconnecting(room) }
    case .connected: delegate.roomDidConnect(room)
    case .connectionFailed(let error): delegate.room(room, didFailToConnectWithError: error)
    case .disconnected(let error): delegate.room(room, didDisconnectWithError: error)
    case .reconnecting(let mode):
      delegate.room(room, didStartReconnectWithMode: mode)
      delegate.room(room, didUpdateReconnectMode: mode)
    case .reconnectModeChanged(let mode): delegate.room(room, didUpdateReconnectMode: mode)
    case .reconnected(let mode):
      delegate.room(room, didCompleteReconnectWithMode: mode)
      delegate.roomDidReconnect(room)
    case .downlinkLimitChanged(let bitrate): delegate.room(room, didUpdateDownlinkLimit: bitrate)
    case .roomMetadataChanged(let metadata): delegate.room(room, didUpdateMetadata: metadata)
    case .recordingChanged(let isRecording): delegate.room(room, didUpdateIsRecording: isRecording)
    case .roomMoved(let name): delegate.room(room, didMoveToRoomNamed: name)
    case .activeSpeakersChanged(let speakers): delegate.room(room, didUpdateSpeakingParticipants: speakers)
    case .participantConnected(let participant): delegate.room(room, participantDidConnect: participant)
    case .participantDisconnected(let participant): delegate.room(room, participantDidDisconnect: participant)
    case .participantNameChanged(let participant, let name):
      delegate.room(room, participant: participant, didUpdateName: name ?? "")
    case .participantMetadataChanged(let participant, let metadata):
      delegate.room(room, participant: participant, didUpdateMetadata: metadata)
    case .participantAttributesChanged(let participant, let attributes):
      delegate.room(room, participant: participant, didUpdateAttributes: attributes)
    case .participantStateChanged(let participant, let state):
      delegate.room(room, participant: participant, didUpdateState: state)
    case .participantPermissionsChanged(let participant, let permissions):
      delegate.room(room, participant: participant, didUpdatePermissions: permissions)
    case .connectionQualityChanged(let participant, let quality):
      delegate.room(room, participant: participant, didUpdateConnectionQuality: quality)
    case .trackPublished(let participant, let publication):
      delegate.room(room, participant: participant, didPublishTrack: publication)
    case .trackUnpublished(let participant, let publication):
      delegate.room(room, participant: participant, didUnpublishTrack: publication)
    case .trackSubscribed(let participant, let publication, _):
      delegate.room(room, participant: participant, didSubscribeTrack: publication)
    case .trackUnsubscribed(let participant, let publication, _):
      delegate.room(room, participant: participant, didUnsubscribeTrack: publication)
    case .subscriptionFailed(let participant, let sid, let error):
      delegate.room(room, participant: participant, didFailToSubscribeTrackWithSid: sid, error: error as any Error)
    case .audioPlaybackFailed(let error): delegate.room(room, didFailToPlayAudioWithError: error)
    case .muteChanged(let participant, let publication, let isMuted):
      delegate.room(room, participant: participant, trackPublication: publication, didUpdateIsMuted: isMuted)
    case .subscriptionAllowedChanged(let participant, let publication, let isAllowed):
      delegate.room(
        room, participant: participant, trackPublication: publication, didUpdateIsSubscriptionAllowed: isAllowed)
    case .streamStateChanged(let participant, let publication, let state):
      delegate.room(room, participant: participant, trackPublication: publication, didUpdateStreamState: state)
    case .videoDisabled(let participant, let publication, let reason):
      delegate.room(room, participant: participant, trackPublication: publication, didDisableVideo: reason)
    case .videoEnabled(let participant, let publication, let reason):
      delegate.room(room, participant: participant, trackPublication: publication, didEnableVideo: reason)
    case .streamLost(let participant, let publication, let track):
      delegate.room(room, participant: participant, trackPublication: publication, didLoseStream: track)
    case .streamRestored(let participant, let publication, let track):
      delegate.room(room, participant: participant, trackPublication: publication, didRestoreStream: track)
    case .statisticsUpdated(let track, let statistics):
      guard let track = track as? RemoteVideoTrack else { return }
      delegate.room(room, track: track, didUpdateStatistics: statistics, simulcastStatistics: track.simulcastStatistics)
    case .speakingChanged, .codecChanged, .dimensionsChanged: break
    case .localTrackPublished(let publication):
      delegate.room(room, participant: room.localParticipant, didPublishTrack: publication)
    case .localTrackUnpublished(let publication):
      delegate.room(room, participant: room.localParticipant, didUnpublishTrack: publication)
    case .localMuteChanged(let publication, let isMuted):
      delegate.room(
        room, participant: room.localParticipant, trackPublication: publication, didUpdateIsMuted: isMuted)
    case .localTrackSubscribed(let publication):
      delegate.room(room, participant: room.localParticipant, remoteDidSubscribeTrack: publication)
    case .localTrackEnded(let publication, let error):
      delegate.room(room, participant: room.localParticipant, trackPublication: publication, didEndWithError: error)
    case .dataReceived(let participant, let data, let topic):
      delegate.room(room, participant: participant, didReceiveData: data, forTopic: topic)
    case .transcriptionReceived(let participant, let publication, let segments):
      guard let participant, let publication else { return }
      delegate.room(
        room, participant: participant, trackPublication: publication, didReceiveTranscriptionSegments: segments)
    case .chatMessageReceived(let participant, let message):
      delegate.room(room, participant: participant, didReceiveChatMessage: message)
    }
  }

  /// Tells the delegates of the participant whom it concerns.
  func tellParticipant() {
    switch self {
    case .participantNameChanged(let participant, let name):
      participant.delegates.each { $0.participant(participant, didUpdateName: name ?? "") }
    case .participantMetadataChanged(let participant, let metadata):
      participant.delegates.each { $0.participant(participant, didUpdateMetadata: metadata) }
    case .participantAttributesChanged(let participant, let attributes):
      participant.delegates.each { $0.participant(participant, didUpdateAttributes: attributes) }
    case .participantStateChanged(let participant, let state):
      participant.delegates.each { $0.participant(participant, didUpdateState: state) }
    case .participantPermissionsChanged(let participant, let permissions):
      participant.delegates.each { $0.participant(participant, didUpdatePermissions: permissions) }
    case .speakingChanged(let participant, let isSpeaking):
      participant.delegates.each { $0.participant(participant, didUpdateIsSpeaking: isSpeaking) }
    case .connectionQualityChanged(let participant, let quality):
      participant.delegates.each { $0.participant(participant, didUpdateConnectionQuality: quality) }
    case .trackPublished(let participant, let publication):
      participant.delegates.each { $0.participant(participant, didPublishTrack: publication) }
    case .trackUnpublished(let participant, let publication):
      participant.delegates.each { $0.participant(participant, didUnpublishTrack: publication) }
    case .trackSubscribed(let participant, let publication, _):
      participant.delegates.each { $0.participant(participant, didSubscribeTrack: publication) }
    case .trackUnsubscribed(let participant, let publication, _):
      participant.delegates.each { $0.participant(participant, didUnsubscribeTrack: publication) }
    case .subscriptionFailed(let participant, let sid, let error):
      participant.delegates.each {
        $0.participant(participant, didFailToSubscribeTrackWithSid: sid, error: error as any Error)
      }
    case .muteChanged(let participant, let publication, let isMuted):
      participant.delegates.each {
        $0.participant(participant, trackPublication: publication, didUpdateIsMuted: isMuted)
      }
    case .subscriptionAllowedChanged(let participant, let publication, let isAllowed):
      participant.delegates.each {
        $0.participant(participant, trackPublication: publication, didUpdateIsSubscriptionAllowed: isAllowed)
      }
    case .streamStateChanged(let participant, let publication, let state):
      participant.delegates.each {
        $0.participant(participant, trackPublication: publication, didUpdateStreamState: state)
      }
    case .videoDisabled(let participant, let publication, let reason):
      participant.delegates.each {
        $0.participant(participant, trackPublication: publication, didDisableVideo: reason)
      }
    case .videoEnabled(let participant, let publication, let reason):
      participant.delegates.each {
        $0.participant(participant, trackPublication: publication, didEnableVideo: reason)
      }
    case .streamLost(let participant, let publication, let track):
      participant.delegates.each { $0.participant(participant, trackPublication: publication, didLoseStream: track) }
    case .streamRestored(let participant, let publication, let track):
      participant.delegates.each {
        $0.participant(participant, trackPublication: publication, didRestoreStream: track)
      }
    case .dataReceived(let participant?, let data, let topic):
      participant.delegates.each { $0.participant(participant, didReceiveData: data, forTopic: topic) }
    case .transcriptionReceived(let participant?, let publication?, let segments):
      participant.delegates.each {
        $0.participant(participant, trackPublication: publication, didReceiveTranscriptionSegments: segments)
      }
    case .chatMessageReceived(let participant?, let message):
      participant.delegates.each { $0.participant(participant, didReceiveChatMessage: message) }
    default: break
    }
  }

  /// Tells the delegates of this process's participant.
  func tell(_ local: LocalParticipant) {
    switch self {
    case .roomMoved(let name): local.delegates.each { $0.participant(local, didMoveToRoomNamed: name) }
    case .localTrackPublished(let publication):
      local.delegates.each { $0.participant(local, didPublishTrack: publication) }
    case .localTrackUnpublished(let publication):
      local.delegates.each { $0.participant(local, didUnpublishTrack: publication) }
    case .localTrackSubscribed(let publication):
      local.delegates.each { $0.participant(local, remoteDidSubscribeTrack: publication) }
    case .localMuteChanged(let publication, let isMuted):
      local.delegates.each { $0.participant(local, trackPublication: publication, didUpdateIsMuted: isMuted) }
    default: break
    }
  }

  /// Runs `body` while the publication knows which track the event is about: for the spellings that hand it on.
  func whileTold(_ body: () -> Void) {
    switch self {
    case .trackSubscribed(_, let publication, let track), .trackUnsubscribed(_, let publication, let track):
      publication.state.withLock { $0.toldTrack = track }
      body()
      publication.state.withLock { $0.toldTrack = nil }
    default: body()
    }
  }

  /// Tells the delegates of the track that it concerns.
  func tellTrack() {
    switch self {
    case .dimensionsChanged(let track, let dimensions):
      track.delegates.each { $0.track(track, didUpdateDimensions: dimensions) }
    case .statisticsUpdated(let track, let statistics):
      track.delegates.each {
        $0.track(track, didUpdateStatistics: statistics, simulcastStatistics: track.simulcastStatistics)
      }
    default: break
    }
  }
}
