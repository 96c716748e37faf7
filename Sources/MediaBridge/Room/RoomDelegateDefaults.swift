extension RoomDelegate {
  public func room(_ room: Room, didUpdateConnectionState state: ConnectionState, from old: ConnectionState) {}
  public func roomDidConnect(_ room: Room) {}
  public func room(_ room: Room, didFailToConnectWithError error: LiveKitError?) {}
  public func room(_ room: Room, didDisconnectWithError error: LiveKitError?) {}
  public func roomIsReconnecting(_ room: Room) {}
  public func roomDidReconnect(_ room: Room) {}
  public func room(_ room: Room, didStartReconnectWithMode reconnectMode: ReconnectMode) {}
  public func room(_ room: Room, didCompleteReconnectWithMode reconnectMode: ReconnectMode) {}

  public func room(_ room: Room, didUpdateDownlinkLimit bitrate: Int?) {}
  public func room(_ room: Room, didUpdateMetadata metadata: String?) {}
  public func room(_ room: Room, didUpdateReconnectMode reconnectMode: ReconnectMode) {}
  public func room(_ room: Room, didUpdateIsRecording isRecording: Bool) {}
  public func room(_ room: Room, didMoveToRoomNamed roomName: String) {}
  public func room(_ room: Room, didUpdateSpeakingParticipants participants: [Participant]) {}

  public func room(_ room: Room, participantDidDisconnect participant: RemoteParticipant) {}
  public func room(_ room: Room, participant: Participant, didUpdateName name: String) {}
  public func room(_ room: Room, participant: Participant, didUpdateMetadata metadata: String?) {}
  public func room(_ room: Room, participant: Participant, didUpdateAttributes attributes: [String: String]) {}
  public func room(_ room: Room, participant: Participant, didUpdateState state: ParticipantState) {}
  public func room(_ room: Room, participant: Participant, didUpdatePermissions permissions: ParticipantPermissions) {}
  public func room(_ room: Room, participant: Participant, didUpdateConnectionQuality quality: ConnectionQuality) {}

  public func room(
    _ room: Room, participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication
  ) {}
  public func room(_ room: Room, didFailToPlayAudioWithError error: LiveKitError) {}
  public func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateIsSubscriptionAllowed isAllowed: Bool
  ) {}
  public func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateStreamState streamState: StreamState
  ) {}
  public func room(
    _ room: Room, track: RemoteVideoTrack, didUpdateStatistics statistics: TrackStatistics,
    simulcastStatistics: [VideoCodec: TrackStatistics]
  ) {}
  public func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didDisableVideo reason: VideoChangeReason
  ) {}
  public func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didEnableVideo reason: VideoChangeReason
  ) {}
  public func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didLoseStream track: Track
  ) {}
  public func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didRestoreStream track: Track
  ) {}
  public func room(
    _ room: Room, participant: Participant, trackPublication: TrackPublication,
    didReceiveTranscriptionSegments segments: [TranscriptionSegment]
  ) {}
  public func room(_ room: Room, participant: RemoteParticipant?, didReceiveChatMessage message: ChatMessage) {}
  public func room(_ room: Room, participant: LocalParticipant, didPublishTrack publication: LocalTrackPublication) {}
  public func room(
    _ room: Room, participant: LocalParticipant, remoteDidSubscribeTrack publication: LocalTrackPublication
  ) {}
  public func room(
    _ room: Room, participant: LocalParticipant, trackPublication: LocalTrackPublication,
    didEndWithError error: LiveKitError?
  ) {}
}
