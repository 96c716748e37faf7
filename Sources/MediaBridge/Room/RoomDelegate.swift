public import struct Foundation.Data

/// Told what happens in a room: in order, on one queue, never under a lock. Held weakly. Every method has an empty
/// default, so that a delegate says only what it cares about.
public protocol RoomDelegate: AnyObject {
  /// The connection's state is another one.
  func room(_ room: Room, didUpdateConnectionState state: ConnectionState, from old: ConnectionState)
  /// The first connection stands, and media can flow.
  func roomDidConnect(_ room: Room)
  /// The first connection did not come about.
  /// - Parameter error: the same that `connect` throws.
  func room(_ room: Room, didFailToConnectWithError error: LiveKitError?)
  /// A connection that stood has ended for good.
  /// - Parameter error: why; nil after `disconnect()`.
  func room(_ room: Room, didDisconnectWithError error: LiveKitError?)
  /// The connection is lost and is being brought back: `roomDidReconnect` follows, or `didDisconnectWithError`.
  func roomIsReconnecting(_ room: Room)
  /// The connection is back.
  func roomDidReconnect(_ room: Room)
  /// The connection is lost and is being brought back: what is told here, behind `roomIsReconnecting`, is how.
  func room(_ room: Room, didStartReconnectWithMode reconnectMode: ReconnectMode)
  /// How the connection is being brought back: told after `didStartReconnectWithMode`, and again when a session cannot
  /// be resumed and the room is joined anew.
  func room(_ room: Room, didUpdateReconnectMode reconnectMode: ReconnectMode)
  /// The connection is back: what is told here, ahead of `roomDidReconnect`, is how.
  func room(_ room: Room, didCompleteReconnectWithMode reconnectMode: ReconnectMode)

  /// The link from the server turns out to be narrow, or is so no more: see ``RoomEvent/downlinkLimitChanged(_:)``.
  /// - Parameter bitrate: what it carries, in bits a second; nil where it carries all that is sent.
  func room(_ room: Room, didUpdateDownlinkLimit bitrate: Int?)

  /// The room's metadata is another text, or none.
  func room(_ room: Room, didUpdateMetadata metadata: String?)
  /// Somebody begins or ends to record the room, as the server knows it.
  func room(_ room: Room, didUpdateIsRecording isRecording: Bool)
  /// The server has moved this process to another room, on the same connection: who was there is gone, and who is in the
  /// other room follows.
  func room(_ room: Room, didMoveToRoomNamed roomName: String)
  /// - Parameter participants: who speaks now, the loudest first.
  func room(_ room: Room, didUpdateSpeakingParticipants participants: [Participant])

  /// Somebody joined, or was there when this room was joined.
  func room(_ room: Room, participantDidConnect participant: RemoteParticipant)
  /// Somebody left; what they had published was unpublished before.
  func room(_ room: Room, participantDidDisconnect participant: RemoteParticipant)
  /// A participant's name for people is another one.
  func room(_ room: Room, participant: Participant, didUpdateName name: String)
  /// A participant's metadata is another text, or none.
  func room(_ room: Room, participant: Participant, didUpdateMetadata metadata: String?)
  /// - Parameter attributes: those that are new or different; one that was removed is empty.
  func room(_ room: Room, participant: Participant, didUpdateAttributes attributes: [String: String])
  /// A participant has come further in joining.
  func room(_ room: Room, participant: Participant, didUpdateState state: ParticipantState)
  /// The server allows a participant other things than before.
  func room(_ room: Room, participant: Participant, didUpdatePermissions permissions: ParticipantPermissions)
  /// The server judges a participant's connection differently.
  func room(_ room: Room, participant: Participant, didUpdateConnectionQuality quality: ConnectionQuality)

  /// A track is there, and may be subscribed.
  func room(_ room: Room, participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication)
  /// A track is gone; before that it was unsubscribed.
  func room(_ room: Room, participant: RemoteParticipant, didUnpublishTrack publication: RemoteTrackPublication)
  /// The publication's `track` is there, and may be given renderers.
  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication)
  /// No more media comes of the track, and its renderers are called no more.
  func room(_ room: Room, participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication)
  /// A track that is wanted cannot be had, or it arrives and cannot be decoded, played or shown here: its codec or the
  /// server's refusal, a pipeline template with a mistake, a GStreamer element that is missing, no display.
  /// - Parameter error: a ``LiveKitError`` that says what to do.
  func room(
    _ room: Room, participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: String, error: any Error)
  /// Audio is received and not played: the template `playback` has a mistake, an element of it is missing, or the audio
  /// device cannot be used, which is tried again after 2 s, and up to a minute later each time; told once until it is
  /// played. A machine without a device is no failure.
  func room(_ room: Room, didFailToPlayAudioWithError error: LiveKitError)

  /// A publisher, or the server for it, has muted or unmuted a track.
  func room(
    _ room: Room, participant: Participant, trackPublication: TrackPublication, didUpdateIsMuted isMuted: Bool)
  /// A publisher allows, or does not allow any more, to receive a track here.
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateIsSubscriptionAllowed isAllowed: Bool)
  /// Media of a track pauses or goes on: see ``RemoteTrackPublication/streamState``.
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateStreamState streamState: StreamState)
  /// What was measured of frames, each second while that is on; `TrackDelegate` is told the same of audio, too.
  /// - Parameter simulcastStatistics: of the other codecs that a track is sent in: none for tracks of others.
  func room(
    _ room: Room, track: RemoteVideoTrack, didUpdateStatistics statistics: TrackStatistics,
    simulcastStatistics: [VideoCodec: TrackStatistics])
  /// The frames of a subscribed track stop.
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didDisableVideo reason: VideoChangeReason)
  /// The frames of a subscribed track go on.
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didEnableVideo reason: VideoChangeReason)
  /// Nothing of a subscribed track has come for two seconds although nobody stopped it: a network has failed, here or
  /// at its publisher. It is unpublished when it does not come back.
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication, didLoseStream track: Track)
  /// Media of a stream that was told as lost flows again.
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didRestoreStream track: Track)
  /// A track of this process is in the room.
  func room(_ room: Room, participant: LocalParticipant, didPublishTrack publication: LocalTrackPublication)
  /// A track of this process is out of the room.
  func room(_ room: Room, participant: LocalParticipant, didUnpublishTrack publication: LocalTrackPublication)
  /// Somebody has begun to receive a track of this process.
  func room(_ room: Room, participant: LocalParticipant, remoteDidSubscribeTrack publication: LocalTrackPublication)
  /// Nothing comes any more for a track of this process, or it cannot be encoded or sent. It stays published until it is
  /// unpublished.
  /// - Parameter error: why; nil at the end of a file.
  func room(
    _ room: Room, participant: LocalParticipant, trackPublication: LocalTrackPublication,
    didEndWithError error: LiveKitError?)
  /// A data message.
  /// - Parameters:
  ///   - participant: nil when it is not known here: the server, or someone hidden.
  ///   - topic: as the sender named it; empty without.
  func room(_ room: Room, participant: RemoteParticipant?, didReceiveData data: Data, forTopic topic: String)
  /// What somebody says on a track, as text: by an agent, or whoever else transcribes. What is of no track that is known
  /// here is told by ``RoomEvent/transcriptionReceived(_:_:_:)`` alone.
  /// - Parameter participant: who says it.
  func room(
    _ room: Room, participant: Participant, trackPublication: TrackPublication,
    didReceiveTranscriptionSegments segments: [TranscriptionSegment])
  /// What somebody writes to the others.
  /// - Parameter participant: nil when it is not known here.
  func room(_ room: Room, participant: RemoteParticipant?, didReceiveChatMessage message: ChatMessage)

  // Second spellings of the documents; the defaults of the ones above call them.
  /// Second spelling of `participantDidConnect`.
  func room(_ room: Room, participantDidJoin participant: RemoteParticipant)
  /// Second spelling of `didUnpublishTrack`, with the base classes.
  func room(_ room: Room, participant: Participant, didUnpublishTrack publication: TrackPublication)
  /// Second spelling of `didSubscribeTrack`, with the track.
  func room(
    _ room: Room, participant: RemoteParticipant, didSubscribe track: any RemoteTrack,
    publication: RemoteTrackPublication)
  /// Second spelling of `didUnsubscribeTrack`, with the track that has ended.
  func room(
    _ room: Room, participant: RemoteParticipant, didUnsubscribe track: any RemoteTrack,
    publication: RemoteTrackPublication)
  /// Second spelling of `didFailToSubscribeTrackWithSid`, with the type of the error: that of today's SDK.
  func room(
    _ room: Room, participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: Track.Sid,
    error: LiveKitError)
  /// Second spelling of `didReceiveData`: that of today's SDK.
  /// - Parameter encryptionType: always `none`: what is encrypted cannot be read here.
  func room(
    _ room: Room, participant: RemoteParticipant?, didReceiveData data: Data, forTopic topic: String,
    encryptionType: EncryptionType)
  /// Second spelling of `trackPublication:didUpdateIsMuted:`.
  func room(
    _ room: Room, participant: RemoteParticipant, publication: RemoteTrackPublication, didUpdateIsMuted isMuted: Bool)
}
