public import struct Foundation.Data

extension RoomDelegate {
  public func room(_ room: Room, didUpdateConnectionState state: ConnectionState, from old: ConnectionState) {}
  public func roomDidConnect(_ room: Room) {}
  public func room(_ room: Room, didDisconnectWithError error: LiveKitError?) {}

  public func room(_ room: Room, participantDidConnect participant: RemoteParticipant) {
    self.room(room, participantDidJoin: participant)
  }
  public func room(_ room: Room, participantDidDisconnect participant: RemoteParticipant) {}

  public func room(
    _ room: Room, participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication
  ) {}
  public func room(
    _ room: Room, participant: RemoteParticipant, didUnpublishTrack publication: RemoteTrackPublication
  ) {}
  public func room(
    _ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication
  ) {
    guard let track = publication.track as? any RemoteTrack else { return }
    self.room(room, participant: participant, didSubscribe: track, publication: publication)
  }
  public func room(
    _ room: Room, participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication
  ) {
    guard let track = publication.subscription.withLock({ $0.lastTrack }) as? any RemoteTrack else { return }
    self.room(room, participant: participant, didUnsubscribe: track, publication: publication)
  }
  public func room(
    _ room: Room, participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: String, error: any Error
  ) {}

  public func room(
    _ room: Room, participant: Participant, trackPublication: TrackPublication, didUpdateIsMuted isMuted: Bool
  ) {
    guard let participant = participant as? RemoteParticipant,
      let publication = trackPublication as? RemoteTrackPublication
    else { return }
    self.room(room, participant: participant, publication: publication, didUpdateIsMuted: isMuted)
  }
  public func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateIsSubscriptionAllowed isAllowed: Bool
  ) {}
  public func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateStreamState streamState: StreamState
  ) {}
  public func room(_ room: Room, participant: RemoteParticipant?, didReceiveData data: Data, forTopic topic: String) {}

  public func room(_ room: Room, participantDidJoin participant: RemoteParticipant) {}
  public func room(
    _ room: Room, participant: RemoteParticipant, didSubscribe track: any RemoteTrack,
    publication: RemoteTrackPublication
  ) {}
  public func room(
    _ room: Room, participant: RemoteParticipant, didUnsubscribe track: any RemoteTrack,
    publication: RemoteTrackPublication
  ) {}
  public func room(
    _ room: Room, participant: RemoteParticipant, publication: RemoteTrackPublication, didUpdateIsMuted isMuted: Bool
  ) {}
}
