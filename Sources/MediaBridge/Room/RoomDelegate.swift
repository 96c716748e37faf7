public import struct Foundation.Data

/// Told what happens in a room: in order, on one queue, never under a lock. Held weakly. Every method has an empty
/// default, so that a delegate says only what it cares about.
public protocol RoomDelegate: AnyObject {
  func room(_ room: Room, didUpdateConnectionState state: ConnectionState, from old: ConnectionState)
  func roomDidConnect(_ room: Room)
  func room(_ room: Room, didFailToConnectWithError error: LiveKitError?)
  func room(_ room: Room, didDisconnectWithError error: LiveKitError?)
  /// The connection is lost and is being brought back: `roomDidReconnect` follows, or `didDisconnectWithError`.
  func roomIsReconnecting(_ room: Room)
  func roomDidReconnect(_ room: Room)
  /// Told again when the mode changes while the room reconnects.
  func room(_ room: Room, didStartReconnectWithMode reconnectMode: ReconnectMode)
  func room(_ room: Room, didCompleteReconnectWithMode reconnectMode: ReconnectMode)

  func room(_ room: Room, didUpdateMetadata metadata: String?)
  func room(_ room: Room, didUpdateIsRecording isRecording: Bool)
  /// - Parameter participants: who speaks now, the loudest first.
  func room(_ room: Room, didUpdateSpeakingParticipants participants: [Participant])

  func room(_ room: Room, participantDidConnect participant: RemoteParticipant)
  func room(_ room: Room, participantDidDisconnect participant: RemoteParticipant)
  func room(_ room: Room, participant: Participant, didUpdateName name: String)
  func room(_ room: Room, participant: Participant, didUpdateMetadata metadata: String?)
  /// - Parameter attributes: those that are new or different; one that was removed is empty.
  func room(_ room: Room, participant: Participant, didUpdateAttributes attributes: [String: String])
  func room(_ room: Room, participant: Participant, didUpdatePermissions permissions: ParticipantPermissions)
  func room(_ room: Room, participant: Participant, didUpdateConnectionQuality quality: ConnectionQuality)

  func room(_ room: Room, participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication)
  func room(_ room: Room, participant: RemoteParticipant, didUnpublishTrack publication: RemoteTrackPublication)
  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication)
  func room(_ room: Room, participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication)
  /// A track that is wanted cannot be had, or it arrives and cannot be decoded, played or shown here: its codec or the
  /// server's refusal, a pipeline text with a mistake, a GStreamer element that is missing, no display.
  /// - Parameter error: a ``LiveKitError`` that says what to do.
  func room(
    _ room: Room, participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: String, error: any Error)
  /// Audio is received and not played, until the next connection: the text `playback` has a mistake, an element of it is
  /// missing, or the audio device cannot be used. A machine without a device is no failure.
  func room(_ room: Room, didFailToPlayAudioWithError error: LiveKitError)

  func room(
    _ room: Room, participant: Participant, trackPublication: TrackPublication, didUpdateIsMuted isMuted: Bool)
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateIsSubscriptionAllowed isAllowed: Bool)
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateStreamState streamState: StreamState)
  /// What was measured of pictures, each second while that is on; `TrackDelegate` is told the same of sound, too.
  /// - Parameter simulcastStatistics: of the other codecs that a track is sent in: none for tracks of others.
  func room(
    _ room: Room, track: RemoteVideoTrack, didUpdateStatistics statistics: TrackStatistics,
    simulcastStatistics: [VideoCodec: TrackStatistics])
  /// The pictures of a subscribed track stop.
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didDisableVideo reason: VideoChangeReason)
  /// The pictures of a subscribed track go on.
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didEnableVideo reason: VideoChangeReason)
  /// Nothing of a subscribed track has come for two seconds although nobody stopped it: a network has failed, here or at
  /// its publisher. It is unpublished when it does not come back.
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication, didLoseStream track: Track)
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didRestoreStream track: Track)
  func room(_ room: Room, participant: RemoteParticipant?, didReceiveData data: Data, forTopic topic: String)

  // Second spellings of the documents; the defaults of the ones above call them.
  func room(_ room: Room, participantDidJoin participant: RemoteParticipant)
  func room(_ room: Room, participant: Participant, didUnpublishTrack publication: TrackPublication)
  func room(
    _ room: Room, participant: RemoteParticipant, didSubscribe track: any RemoteTrack,
    publication: RemoteTrackPublication)
  func room(
    _ room: Room, participant: RemoteParticipant, didUnsubscribe track: any RemoteTrack,
    publication: RemoteTrackPublication)
  func room(
    _ room: Room, participant: RemoteParticipant, publication: RemoteTrackPublication, didUpdateIsMuted isMuted: Bool)
}
