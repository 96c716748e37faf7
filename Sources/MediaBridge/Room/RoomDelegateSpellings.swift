public import struct Foundation.Data

// The documents spell some methods in two ways. The first spelling is the one that is called; where a delegate does not
// have it, its default here calls the other.

extension RoomDelegate {
  public func room(_ room: Room, participantDidConnect participant: RemoteParticipant) {
    self.room(room, participantDidJoin: participant)
  }
  public func room(_ room: Room, participantDidJoin participant: RemoteParticipant) {}

  public func room(
    _ room: Room, participant: RemoteParticipant, didUnpublishTrack publication: RemoteTrackPublication
  ) {
    self.room(room, participant: participant as Participant, didUnpublishTrack: publication as TrackPublication)
  }
  public func room(
    _ room: Room, participant: LocalParticipant, didUnpublishTrack publication: LocalTrackPublication
  ) {
    self.room(room, participant: participant as Participant, didUnpublishTrack: publication as TrackPublication)
  }
  /// Second spelling, for the base classes; does nothing.
  public func room(_ room: Room, participant: Participant, didUnpublishTrack publication: TrackPublication) {}

  public func room(
    _ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication
  ) {
    guard let track = publication.state.withLock({ $0.toldTrack }) as? any RemoteTrack else { return }
    self.room(room, participant: participant, didSubscribe: track, publication: publication)
  }
  public func room(
    _ room: Room, participant: RemoteParticipant, didSubscribe track: any RemoteTrack,
    publication: RemoteTrackPublication
  ) {}

  public func room(
    _ room: Room, participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication
  ) {
    guard let track = publication.state.withLock({ $0.toldTrack }) as? any RemoteTrack else { return }
    self.room(room, participant: participant, didUnsubscribe: track, publication: publication)
  }
  public func room(
    _ room: Room, participant: RemoteParticipant, didUnsubscribe track: any RemoteTrack,
    publication: RemoteTrackPublication
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
    _ room: Room, participant: RemoteParticipant, publication: RemoteTrackPublication, didUpdateIsMuted isMuted: Bool
  ) {}

  public func room(
    _ room: Room, participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: String, error: any Error
  ) {
    guard let error = error as? LiveKitError else { return }
    self.room(room, participant: participant, didFailToSubscribeTrackWithSid: trackSid, error: error)
  }
  public func room(
    _ room: Room, participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: Track.Sid,
    error: LiveKitError
  ) {}

  public func room(_ room: Room, participant: RemoteParticipant?, didReceiveData data: Data, forTopic topic: String) {
    self.room(room, participant: participant, didReceiveData: data, forTopic: topic, encryptionType: .none)
  }
  public func room(
    _ room: Room, participant: RemoteParticipant?, didReceiveData data: Data, forTopic topic: String,
    encryptionType: EncryptionType
  ) {}
}

extension ParticipantDelegate {
  public func participant(
    _ participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: String, error: any Error
  ) {
    guard let error = error as? LiveKitError else { return }
    self.participant(participant, didFailToSubscribeTrackWithSid: trackSid, error: error)
  }
  public func participant(
    _ participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: Track.Sid, error: LiveKitError
  ) {}

  public func participant(_ participant: RemoteParticipant, didReceiveData data: Data, forTopic topic: String) {
    self.participant(participant, didReceiveData: data, forTopic: topic, encryptionType: .none)
  }
  public func participant(
    _ participant: RemoteParticipant, didReceiveData data: Data, forTopic topic: String, encryptionType: EncryptionType
  ) {}
}
