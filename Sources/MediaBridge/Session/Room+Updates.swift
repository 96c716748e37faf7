import Foundation
import LiveKitProtocol
import MediaCore

// What the server says of the room and of those in it, where nothing is to be decided.
extension Room {
  /// The room as it is at the join: nobody has to be told that it changed.
  func learn(_ join: Livekit_JoinResponse) {
    state.withLock { state in
      state.details.learn(join.room)
      state.details.learn(join)
    }
    localParticipant.info.withLock { $0 = .init(join.participant) }
  }

  /// The room as it is at a later join.
  func learnAgain(_ join: Livekit_JoinResponse) {
    update(join.room)
    state.withLock { $0.details.learn(join) }
    learn(join.participant, of: localParticipant)
  }

  func update(_ info: Livekit_Room) {
    let (old, new) = state.withLock { state in
      let old = (state.details.metadata, state.details.isRecording)
      state.details.learn(info)
      return (old, (state.details.metadata, state.details.isRecording))
    }
    if old.0 != new.0 { tell(.roomMetadataChanged(new.0)) }
    if old.1 != new.1 { tell(.recordingChanged(isRecording: new.1)) }
  }

  func learn(_ info: Livekit_ParticipantInfo, of participant: Participant) {
    let new = Participant.Info(info)
    let old = participant.info.withLock { info in
      defer { info = new }
      return info
    }
    if old.name != new.name { tell(.participantNameChanged(participant, new.name)) }
    if old.metadata != new.metadata { tell(.participantMetadataChanged(participant, new.metadata)) }
    let changes = new.attributes.changes(from: old.attributes)
    if !changes.isEmpty { tell(.participantAttributesChanged(participant, changes)) }
    if old.permissions != new.permissions {
      tell(.participantPermissionsChanged(participant, new.permissions))
    }
    if old.state != new.state { tell(.participantStateChanged(participant, new.state)) }
  }

  private func participant(sid: String) -> Participant? {
    if localParticipant.sid == sid { return localParticipant }
    return remoteParticipants.values.first { $0.sid == sid }
  }

  // MARK: Speakers and connections

  /// The server tells only who began, ended or changed.
  func update(_ speakers: [Livekit_SpeakerInfo]) {
    var active = activeSpeakers
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
      if isNews { tell(.speakingChanged(participant, isSpeaking: info.active)) }
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
    tell(.speakingChanged(participant, isSpeaking: false))
    setSpeakers(activeSpeakers.filter { $0 !== participant })
  }

  /// That somebody has stopped is told once, and was lost with the connection, or in the move to another room. Of who
  /// goes on it is told when the level changes, as it does all the time.
  func forgetSpeakers() { for participant in activeSpeakers { stopSpeaking(participant) } }

  /// Told also when only the levels are new.
  private func setSpeakers(_ speakers: [Participant]) {
    state.withLock { $0.activeSpeakers = speakers }
    tell(.activeSpeakersChanged(speakers))
  }

  func update(_ qualities: [Livekit_ConnectionQualityInfo]) {
    for info in qualities {
      guard let participant = participant(sid: info.participantSid) else { continue }
      let new = ConnectionQuality(info.quality)
      if participant.activity.set(\.connectionQuality, to: new) {
        tell(.connectionQualityChanged(participant, new))
      }
    }
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
