import Foundation
import LiveKitProtocol
import MediaCore

// Who is in the room, and what becomes known of them.
extension RoomEngine {
  /// The room as it is at the join: nobody has to be told that it changed.
  func learn(_ join: Livekit_JoinResponse) {
    room.state.withLock { $0.learn(join.room) }
    room.localParticipant.info.withLock { $0 = .init(join.participant) }
  }

  func update(_ info: Livekit_Room) {
    let (old, new) = room.state.withLock { state in
      let old = (state.metadata, state.isRecording)
      state.learn(info)
      return (old, (state.metadata, state.isRecording))
    }
    if old.0 != new.0 { room.tell(.roomMetadataChanged(new.0)) }
    if old.1 != new.1 { room.tell(.recordingChanged(isRecording: new.1)) }
  }

  func update(_ info: Livekit_ParticipantInfo) async {
    if info.sid == room.localParticipant.sid { return learn(info, of: room.localParticipant) }
    if info.state == .disconnected { return remove(info) }
    addOrUpdate(info)
    await matchTracks()
  }

  /// - Parameter isSameStay: also when the SID is another one, as it is in another session.
  func addOrUpdate(_ info: Livekit_ParticipantInfo, isSameStay: Bool = false) {
    let tracks = info.tracks.map(TrackInfo.init)
    let known = room.remoteParticipants[info.identity]
    if let known, known.sid != info.sid, !isSameStay, !isAwaited(known) { remove(known) }
    if let participant = room.remoteParticipants[info.identity] {
      absent.remove(participant.sid)
      recognise(tracks, of: participant)
      learn(info, of: participant)
      return updateTracks(of: participant, tracks)
    }
    let participant = RemoteParticipant(info: .init(info))
    room.state.withLock { $0.participants[info.identity] = participant }
    room.tell(.participantConnected(participant))
    updateTracks(of: participant, tracks)
  }

  func learn(_ info: Livekit_ParticipantInfo, of participant: Participant) {
    let new = Participant.Info(info)
    let old = participant.info.withLock { info in
      defer { info = new }
      return info
    }
    if old.name != new.name { room.tell(.participantNameChanged(participant, new.name)) }
    if old.metadata != new.metadata { room.tell(.participantMetadataChanged(participant, new.metadata)) }
    let changes = new.attributes.changes(from: old.attributes)
    if !changes.isEmpty { room.tell(.participantAttributesChanged(participant, changes)) }
    if old.permissions != new.permissions {
      room.tell(.participantPermissionsChanged(participant, new.permissions))
    }
  }

  private func remove(_ info: Livekit_ParticipantInfo) {
    if let participant = participant(sid: info.sid) as? RemoteParticipant { remove(participant) }
  }

  func remove(_ participant: RemoteParticipant) {
    removeTracks(of: participant)
    guard let identity = participant.identity else { return }
    room.state.withLock { _ = $0.participants.removeValue(forKey: identity) }
    stopSpeaking(participant)
    room.tell(.participantDisconnected(participant))
  }

  private func participant(sid: String) -> Participant? {
    if room.localParticipant.sid == sid { return room.localParticipant }
    return room.remoteParticipants.values.first { $0.sid == sid }
  }

  // MARK: Speakers and connections

  /// The server tells only who began, ended or changed.
  func update(_ speakers: [Livekit_SpeakerInfo]) {
    var active = room.activeSpeakers
    for info in speakers {
      guard let participant = participant(sid: info.sid) else { continue }
      active.removeAll { $0 === participant }
      if info.active { active.append(participant) }
      let isNews = participant.activity.withLock { activity in
        defer { activity.isSpeaking = info.active }
        activity.audioLevel = info.active ? info.level : 0
        if info.active { activity.lastSpokeAt = Date() }
        return activity.isSpeaking != info.active
      }
      if isNews { room.tell(.speakingChanged(participant, isSpeaking: info.active)) }
    }
    setSpeakers(active.sorted { $0.audioLevel > $1.audioLevel })
  }

  /// Who leaves says nothing of it.
  func stopSpeaking(_ participant: Participant) {
    let wasSpeaking = participant.activity.withLock { activity in
      defer { (activity.isSpeaking, activity.audioLevel) = (false, 0) }
      return activity.isSpeaking
    }
    guard wasSpeaking else { return }
    room.tell(.speakingChanged(participant, isSpeaking: false))
    setSpeakers(room.activeSpeakers.filter { $0 !== participant })
  }

  /// Told also when only the levels are new.
  private func setSpeakers(_ speakers: [Participant]) {
    room.state.withLock { $0.activeSpeakers = speakers }
    room.tell(.activeSpeakersChanged(speakers))
  }

  func update(_ qualities: [Livekit_ConnectionQualityInfo]) {
    for info in qualities {
      guard let participant = participant(sid: info.participantSid) else { continue }
      let new = ConnectionQuality(info.quality)
      if participant.activity.set(\.connectionQuality, to: new) {
        room.tell(.connectionQualityChanged(participant, new))
      }
    }
  }

  // MARK: Data

  func receive(_ message: [UInt8]) {
    guard let packet = try? Livekit_DataPacket(serializedBytes: message), packet.hasUser else { return }
    let identity = packet.participantIdentity.isEmpty ? packet.user.participantIdentity : packet.participantIdentity
    room.tell(.dataReceived(room.remoteParticipants[identity], packet.user.payload, topic: packet.user.topic))
  }
}

extension Room.State {
  mutating func learn(_ info: Livekit_Room) {
    sid = info.sid
    name = info.name
    metadata = info.metadata
    isRecording = info.activeRecording
  }
}

extension [String: String] {
  /// What is new or different here; what `old` alone has is empty.
  func changes(from old: [String: String]) -> [String: String] {
    var changes = filter { old[$0.key] != $0.value }
    for key in old.keys where self[key] == nil { changes[key] = "" }
    return changes
  }
}
