public import struct Foundation.Data

/// Told what happens to one participant: as a `RoomDelegate` is, and after it. Held weakly. Every method has an empty
/// default.
public protocol ParticipantDelegate: AnyObject {
  /// The participant's name for people is another one.
  func participant(_ participant: Participant, didUpdateName name: String)
  /// The participant's metadata is another text, or none.
  func participant(_ participant: Participant, didUpdateMetadata metadata: String?)
  /// - Parameter attributes: those that are new or different; one that was removed is empty.
  func participant(_ participant: Participant, didUpdateAttributes attributes: [String: String])
  /// The participant has come further in joining.
  func participant(_ participant: Participant, didUpdateState state: ParticipantState)
  /// The server allows the participant other things than before.
  func participant(_ participant: Participant, didUpdatePermissions permissions: ParticipantPermissions)
  /// The participant begins or ends to speak, as the server measures it.
  func participant(_ participant: Participant, didUpdateIsSpeaking isSpeaking: Bool)
  /// The server judges the participant's connection differently.
  func participant(_ participant: Participant, didUpdateConnectionQuality quality: ConnectionQuality)

  /// A track of the participant is there, and may be subscribed.
  func participant(_ participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication)
  /// A track of the participant is gone; before that it was unsubscribed.
  func participant(_ participant: RemoteParticipant, didUnpublishTrack publication: RemoteTrackPublication)
  /// The publication's `track` is there, and may be given renderers.
  func participant(_ participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication)
  /// No more media comes of the track, and its renderers are called no more.
  func participant(_ participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication)
  /// A track that is wanted cannot be had, or cannot be decoded, played or shown here.
  /// - Parameter error: a ``LiveKitError`` that says what to do.
  func participant(
    _ participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: String, error: any Error)

  /// The publisher, or the server for it, has muted or unmuted a track.
  func participant(
    _ participant: Participant, trackPublication: TrackPublication, didUpdateIsMuted isMuted: Bool)
  /// The publisher allows, or does not allow any more, to receive the track here.
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateIsSubscriptionAllowed isAllowed: Bool)
  /// Media of the track pauses or goes on: see ``RemoteTrackPublication/streamState``.
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateStreamState streamState: StreamState)
  /// The frames of a subscribed track stop.
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didDisableVideo reason: VideoChangeReason)
  /// The frames of a subscribed track go on.
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didEnableVideo reason: VideoChangeReason)
  /// Nothing of a subscribed track has come for two seconds although nobody stopped it: a network has failed, here or
  /// at its publisher. It is unpublished when it does not come back.
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication, didLoseStream track: Track)
  /// Media of a stream that was told as lost flows again.
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication, didRestoreStream track: Track)
  /// A data message of the participant.
  /// - Parameter topic: as the sender named it; empty without.
  func participant(_ participant: RemoteParticipant, didReceiveData data: Data, forTopic topic: String)
  /// What the participant says on a track, as text.
  func participant(
    _ participant: Participant, trackPublication: TrackPublication,
    didReceiveTranscriptionSegments segments: [TranscriptionSegment])
  /// What the participant writes to the others.
  func participant(_ participant: RemoteParticipant, didReceiveChatMessage message: ChatMessage)

  /// A track of this process is in the room.
  func participant(_ participant: LocalParticipant, didPublishTrack publication: LocalTrackPublication)
  /// A track of this process is out of the room.
  func participant(_ participant: LocalParticipant, didUnpublishTrack publication: LocalTrackPublication)
  /// Somebody has begun to receive a track of this process.
  func participant(_ participant: LocalParticipant, remoteDidSubscribeTrack publication: LocalTrackPublication)
  /// The server has moved this process to another room.
  func participant(_ participant: LocalParticipant, didMoveToRoomNamed roomName: String)

  // Second spellings, those of today's SDK; the defaults of the ones above call them.
  /// Second spelling of `didFailToSubscribeTrackWithSid`, with the type of the error.
  func participant(
    _ participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: Track.Sid, error: LiveKitError)
  /// Second spelling of `didReceiveData`.
  /// - Parameter encryptionType: always `none`: what is encrypted cannot be read here.
  func participant(
    _ participant: RemoteParticipant, didReceiveData data: Data, forTopic topic: String, encryptionType: EncryptionType)
}

extension ParticipantDelegate {
  public func participant(_ participant: Participant, didUpdateName name: String) {}
  public func participant(_ participant: Participant, didUpdateMetadata metadata: String?) {}
  public func participant(_ participant: Participant, didUpdateAttributes attributes: [String: String]) {}
  public func participant(_ participant: Participant, didUpdateState state: ParticipantState) {}
  public func participant(_ participant: Participant, didUpdatePermissions permissions: ParticipantPermissions) {}
  public func participant(_ participant: Participant, didUpdateIsSpeaking isSpeaking: Bool) {}
  public func participant(_ participant: Participant, didUpdateConnectionQuality quality: ConnectionQuality) {}

  public func participant(_ participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication) {}
  public func participant(_ participant: RemoteParticipant, didUnpublishTrack publication: RemoteTrackPublication) {}
  public func participant(_ participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {}
  public func participant(_ participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication) {}

  public func participant(
    _ participant: Participant, trackPublication: TrackPublication, didUpdateIsMuted isMuted: Bool
  ) {}
  public func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateIsSubscriptionAllowed isAllowed: Bool
  ) {}
  public func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateStreamState streamState: StreamState
  ) {}
  public func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didDisableVideo reason: VideoChangeReason
  ) {}
  public func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didEnableVideo reason: VideoChangeReason
  ) {}
  public func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didLoseStream track: Track
  ) {}
  public func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didRestoreStream track: Track
  ) {}
  public func participant(
    _ participant: Participant, trackPublication: TrackPublication,
    didReceiveTranscriptionSegments segments: [TranscriptionSegment]
  ) {}
  public func participant(_ participant: RemoteParticipant, didReceiveChatMessage message: ChatMessage) {}
  public func participant(_ participant: LocalParticipant, didPublishTrack publication: LocalTrackPublication) {}
  public func participant(_ participant: LocalParticipant, didUnpublishTrack publication: LocalTrackPublication) {}
  public func participant(
    _ participant: LocalParticipant, remoteDidSubscribeTrack publication: LocalTrackPublication
  ) {}
  public func participant(_ participant: LocalParticipant, didMoveToRoomNamed roomName: String) {}
}
