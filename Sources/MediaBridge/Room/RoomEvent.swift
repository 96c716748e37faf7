public import struct Foundation.Data

/// What happens in a room, in the order in which it happened; the same that delegates are told.
public enum RoomEvent: Sendable {
  case connectionStateChanged(ConnectionState, from: ConnectionState)
  case connected
  case disconnected(LiveKitError?)
  case participantConnected(RemoteParticipant)
  case participantDisconnected(RemoteParticipant)
  case trackPublished(RemoteParticipant, RemoteTrackPublication)
  case trackUnpublished(RemoteParticipant, RemoteTrackPublication)
  case trackSubscribed(RemoteParticipant, RemoteTrackPublication)
  case trackUnsubscribed(RemoteParticipant, RemoteTrackPublication)
  case subscriptionFailed(RemoteParticipant, trackSid: String, LiveKitError)
  case muteChanged(RemoteParticipant, RemoteTrackPublication, isMuted: Bool)
  case subscriptionAllowedChanged(RemoteParticipant, RemoteTrackPublication, isAllowed: Bool)
  case streamStateChanged(RemoteParticipant, RemoteTrackPublication, StreamState)
  /// A data message; the participant is nil when the server sent it.
  case dataReceived(RemoteParticipant?, Data, topic: String)
}
