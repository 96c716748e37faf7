public import struct Foundation.Data

/// What happens in a room, as delegates are told it.
public enum RoomEvent: Sendable {
  case connectionStateChanged(ConnectionState, from: ConnectionState)
  case connected
  /// The first connection did not come about.
  case connectionFailed(LiveKitError)
  case disconnected(LiveKitError?)
  /// The connection is lost and is being brought back; told again when the mode changes meanwhile.
  case reconnecting(ReconnectMode)
  case reconnected(ReconnectMode)

  case roomMetadataChanged(String)
  case recordingChanged(isRecording: Bool)
  /// Who speaks now, the loudest first.
  case activeSpeakersChanged([Participant])
  case speakingChanged(Participant, isSpeaking: Bool)

  case participantConnected(RemoteParticipant)
  case participantDisconnected(RemoteParticipant)
  case participantNameChanged(Participant, String?)
  case participantMetadataChanged(Participant, String?)
  /// The attributes that are new or different; one that was removed is empty.
  case participantAttributesChanged(Participant, [String: String])
  case participantPermissionsChanged(Participant, ParticipantPermissions)
  case connectionQualityChanged(Participant, ConnectionQuality)

  case trackPublished(RemoteParticipant, RemoteTrackPublication)
  case trackUnpublished(RemoteParticipant, RemoteTrackPublication)
  case trackSubscribed(RemoteParticipant, RemoteTrackPublication, Track)
  /// The track is the one that the publication had.
  case trackUnsubscribed(RemoteParticipant, RemoteTrackPublication, Track)
  /// A track cannot be had, or cannot be decoded, played or shown here.
  case subscriptionFailed(RemoteParticipant, trackSid: String, LiveKitError)
  /// Audio is received and not played, until the next connection; told once.
  case audioPlaybackFailed(LiveKitError)
  case muteChanged(RemoteParticipant, RemoteTrackPublication, isMuted: Bool)
  case subscriptionAllowedChanged(RemoteParticipant, RemoteTrackPublication, isAllowed: Bool)
  case streamStateChanged(RemoteParticipant, RemoteTrackPublication, StreamState)
  /// The pictures of a subscribed track stop, or go on; the reason is the one that made the difference.
  case videoDisabled(RemoteParticipant, RemoteTrackPublication, VideoChangeReason)
  case videoEnabled(RemoteParticipant, RemoteTrackPublication, VideoChangeReason)
  /// The media of a subscribed track stays away although nobody stopped it: a network has failed, here or there.
  case streamLost(RemoteParticipant, RemoteTrackPublication, Track)
  case streamRestored(RemoteParticipant, RemoteTrackPublication, Track)
  case dimensionsChanged(RemoteVideoTrack, Dimensions)
  /// Each second for each track of which statistics are on.
  case statisticsUpdated(Track, TrackStatistics)

  /// A data message; the participant is nil when it is not known here: the server, or someone hidden.
  case dataReceived(RemoteParticipant?, Data, topic: String)
}
