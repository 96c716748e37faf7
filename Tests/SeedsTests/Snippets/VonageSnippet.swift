import MediaBridge

/// What a session's and a subscriber's delegate were, in one.
final class Subscriber: RoomDelegate {
  // streamCreated, streamDestroyed
  func room(_ room: Room, participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication) {
    print("stream \(publication.sid) of \(participant.identity ?? "")")
    // subscribe
    Task { try await publication.set(subscribed: true) }
  }
  func room(_ room: Room, participant: RemoteParticipant, didUnpublishTrack publication: RemoteTrackPublication) {
    print("stream \(publication.sid) is gone")
  }

  // streamCreated, of a stream of one's own
  func room(_ room: Room, participant: LocalParticipant, didPublishTrack publication: LocalTrackPublication) {
    print("stream \(publication.sid) of mine")
  }

  // subscriberDidConnect
  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    print("connected to \(publication.sid)")
  }

  // subscriberDidDisconnect, subscriberDidReconnect
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication, didLoseStream track: Track
  ) {
    print("nothing comes of \(trackPublication.sid)")
  }
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didRestoreStream track: Track
  ) {
    print("\(trackPublication.sid) goes on")
  }

  // subscriberVideoDisabled, subscriberVideoEnabled
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didDisableVideo reason: VideoChangeReason
  ) {
    print("video disabled: \(reason)")
  }
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didEnableVideo reason: VideoChangeReason
  ) {
    print("video enabled: \(reason)")
  }
}
