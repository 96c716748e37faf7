public import struct Foundation.Data

/// What happens in a room, as delegates are told it.
public enum RoomEvent: Sendable {
  /// The connection's state is another one.
  case connectionStateChanged(ConnectionState, from: ConnectionState)
  /// The first connection stands, and media can flow.
  case connected
  /// The first connection did not come about.
  case connectionFailed(LiveKitError)
  /// A connection that stood has ended for good; without an error after `disconnect()`.
  case disconnected(LiveKitError?)
  /// The connection is lost and is being brought back.
  case reconnecting(ReconnectMode)
  /// It is brought back in another way than it was begun: a session could not be resumed, so the room is joined anew.
  case reconnectModeChanged(ReconnectMode)
  /// The connection is back.
  case reconnected(ReconnectMode)
  /// The link from the server carries too little, some so many bits a second, so that the server sends smaller layers of video,
  /// or pauses some; nil when it carries more again, or the room is joined anew. Not told where the server finds out by itself
  /// (`use_send_side_bwe`): what it does about it is told of each track either way.
  case downlinkLimitChanged(Int?)

  /// The room's metadata is another text; empty when it was taken away.
  case roomMetadataChanged(String)
  /// Somebody begins or ends to record the room, as the server knows it.
  case recordingChanged(isRecording: Bool)
  /// The server has moved this process to the room of that name, on the same connection: who was there is gone, and who is
  /// in the other room follows. What this process publishes goes with it.
  case roomMoved(String)
  /// Who speaks now, the loudest first.
  case activeSpeakersChanged([Participant])
  /// A participant begins or ends to speak, as the server measures it.
  case speakingChanged(Participant, isSpeaking: Bool)

  /// Somebody joined, or was there when the room was joined.
  case participantConnected(RemoteParticipant)
  /// Somebody left; what they had published was unpublished before.
  case participantDisconnected(RemoteParticipant)
  /// A participant's name for people is another one.
  case participantNameChanged(Participant, String?)
  /// A participant's metadata is another text, or none.
  case participantMetadataChanged(Participant, String?)
  /// The attributes that are new or different; one that was removed is empty.
  case participantAttributesChanged(Participant, [String: String])
  /// A participant has come further in joining.
  case participantStateChanged(Participant, ParticipantState)
  /// The server allows a participant other things than before.
  case participantPermissionsChanged(Participant, ParticipantPermissions)
  /// The server judges a participant's connection differently.
  case connectionQualityChanged(Participant, ConnectionQuality)

  /// A track is there, and may be subscribed.
  case trackPublished(RemoteParticipant, RemoteTrackPublication)
  /// A track is gone; before that it was unsubscribed.
  case trackUnpublished(RemoteParticipant, RemoteTrackPublication)
  /// A track is there, and may be given renderers.
  case trackSubscribed(RemoteParticipant, RemoteTrackPublication, Track)
  /// The track is the one that the publication had.
  case trackUnsubscribed(RemoteParticipant, RemoteTrackPublication, Track)
  /// A track cannot be had, or cannot be decoded, played or shown here.
  case subscriptionFailed(RemoteParticipant, trackSid: String, LiveKitError)
  /// Audio is received and not played. It is tried again after 2 s, and up to a minute later each time, and told once
  /// until it is played.
  case audioPlaybackFailed(LiveKitError)
  /// A publisher, or the server for it, has muted or unmuted a track.
  case muteChanged(RemoteParticipant, RemoteTrackPublication, isMuted: Bool)
  /// A publisher allows, or does not allow any more, to receive a track here.
  case subscriptionAllowedChanged(RemoteParticipant, RemoteTrackPublication, isAllowed: Bool)
  /// Media of a track pauses or goes on: see ``RemoteTrackPublication/streamState``.
  case streamStateChanged(RemoteParticipant, RemoteTrackPublication, StreamState)
  /// The frames of a subscribed track stop, or go on; the reason is the one that made the difference.
  case videoDisabled(RemoteParticipant, RemoteTrackPublication, VideoChangeReason)
  /// Nothing keeps the frames of a subscribed track any more; the reason is the last one that did.
  case videoEnabled(RemoteParticipant, RemoteTrackPublication, VideoChangeReason)
  /// The media of a subscribed track stays away although nobody stopped it: a network has failed, here or there.
  case streamLost(RemoteParticipant, RemoteTrackPublication, Track)
  /// Media of a stream that was told as lost flows again.
  case streamRestored(RemoteParticipant, RemoteTrackPublication, Track)
  /// What comes of a subscribed track is in another codec from now on, as where LiveKit's server has everybody receive
  /// the backup codec, or in another one than was expected from its beginning. The track and its renderers go on; its
  /// statistics name the codec.
  case codecChanged(RemoteParticipant, RemoteTrackPublication, Track)
  /// The frames that follow have another size: of a track that is shown here, or that this process publishes.
  case dimensionsChanged(any VideoTrack, Dimensions)
  /// Each second for each track of which statistics are on.
  case statisticsUpdated(Track, TrackStatistics)

  /// A track of this process is in the room.
  case localTrackPublished(LocalTrackPublication)
  /// A track of this process is out of the room.
  case localTrackUnpublished(LocalTrackPublication)
  /// A track of this process is muted or not any more, by the program or by the server.
  case localMuteChanged(LocalTrackPublication, isMuted: Bool)
  /// Somebody has begun to receive a track of this process.
  case localTrackSubscribed(LocalTrackPublication)
  /// Nothing comes any more for a track of this process, or it cannot be encoded or sent; without an error at the end of a
  /// file. It stays published until it is unpublished.
  case localTrackEnded(LocalTrackPublication, LiveKitError?)

  /// A data message; the participant is nil when it is not known here: the server, or someone hidden.
  case dataReceived(RemoteParticipant?, Data, topic: String)
  /// What somebody says, as text: by an agent, or whoever else transcribes. The participant is who says it, and nil where
  /// nobody known here does; the publication is nil where the sender names none.
  case transcriptionReceived(Participant?, TrackPublication?, [TranscriptionSegment])
  /// What somebody writes to the others; the participant is nil when it is not known here.
  case chatMessageReceived(RemoteParticipant?, ChatMessage)
}
