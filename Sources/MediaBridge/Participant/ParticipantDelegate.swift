public import struct Foundation.Data

/// Told what happens to one participant: as a `RoomDelegate` is, and after it. Held weakly. Every method has an empty
/// default.
public protocol ParticipantDelegate: AnyObject {
  func participant(_ participant: Participant, didUpdateName name: String)
  func participant(_ participant: Participant, didUpdateMetadata metadata: String?)
  /// - Parameter attributes: those that are new or different; one that was removed is empty.
  func participant(_ participant: Participant, didUpdateAttributes attributes: [String: String])
  func participant(_ participant: Participant, didUpdatePermissions permissions: ParticipantPermissions)
  func participant(_ participant: Participant, didUpdateIsSpeaking isSpeaking: Bool)
  func participant(_ participant: Participant, didUpdateConnectionQuality quality: ConnectionQuality)

  func participant(_ participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication)
  func participant(_ participant: RemoteParticipant, didUnpublishTrack publication: RemoteTrackPublication)
  func participant(_ participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication)
  func participant(_ participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication)
  func participant(
    _ participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: String, error: any Error)

  func participant(
    _ participant: Participant, trackPublication: TrackPublication, didUpdateIsMuted isMuted: Bool)
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateIsSubscriptionAllowed isAllowed: Bool)
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateStreamState streamState: StreamState)
  /// The pictures of a subscribed track stop.
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didDisableVideo reason: VideoChangeReason)
  /// The pictures of a subscribed track go on.
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didEnableVideo reason: VideoChangeReason)
  /// Nothing of a subscribed track has come for two seconds although nobody stopped it: a network has failed, here or at
  /// its publisher. It is unpublished when it does not come back.
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication, didLoseStream track: Track)
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication, didRestoreStream track: Track)
  func participant(_ participant: RemoteParticipant, didReceiveData data: Data, forTopic topic: String)
}

extension ParticipantDelegate {
  public func participant(_ participant: Participant, didUpdateName name: String) {}
  public func participant(_ participant: Participant, didUpdateMetadata metadata: String?) {}
  public func participant(_ participant: Participant, didUpdateAttributes attributes: [String: String]) {}
  public func participant(_ participant: Participant, didUpdatePermissions permissions: ParticipantPermissions) {}
  public func participant(_ participant: Participant, didUpdateIsSpeaking isSpeaking: Bool) {}
  public func participant(_ participant: Participant, didUpdateConnectionQuality quality: ConnectionQuality) {}

  public func participant(_ participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication) {}
  public func participant(_ participant: RemoteParticipant, didUnpublishTrack publication: RemoteTrackPublication) {}
  public func participant(_ participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {}
  public func participant(_ participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication) {}
  public func participant(
    _ participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: String, error: any Error
  ) {}

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
  public func participant(_ participant: RemoteParticipant, didReceiveData data: Data, forTopic topic: String) {}
}
