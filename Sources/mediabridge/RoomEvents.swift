import Foundation
import MediaBridge

extension Console {
  /// What happens in a room, a line for machines each.
  func tell(_ event: RoomEvent) {
    // What becomes of them stands in the line on how things stand.
    if case .statisticsUpdated = event { return }
    for line in event.lines { say(line) }
    let (name, fields) = event.described
    self.event(name, fields)
  }

  /// Tells of the room's connection alone: when it is lost, and back, and where it is too narrow. Ends with the room, or when
  /// what is returned is cancelled.
  /// - Parameter withFailures: also what was wanted and cannot be had.
  @discardableResult
  func tellLosses(of room: Room, withFailures: Bool = false) -> Task<Void, Never> {
    Task { [events = room.events] in
      for await event in events where event.newsOfConnection != nil || withFailures && event.newsOfFailure != nil {
        tell(event)
      }
    }
  }
}

extension RoomEvent {
  /// For people.
  var lines: [String] { [newsOfConnection ?? newsOfFailure].compactMap { $0 } + wordsOfPeople }

  /// What was wanted and cannot be had, in a line for people.
  fileprivate var newsOfFailure: String? {
    guard case .subscriptionFailed(_, _, let error) = self else { return nil }
    return "Not received: \(error.message)"
  }

  /// In a line for people.
  fileprivate var newsOfConnection: String? {
    switch self {
    case .reconnecting(.quick): "The connection is lost; reconnecting…"
    case .reconnecting(.full), .reconnectModeChanged(.full): "The session is lost; joining the room again…"
    case .reconnected: "The connection is back."
    case .downlinkLimitChanged(let bitrate?):
      "The link from the server carries some \(bitrate / 1000) kbit/s, too little: video comes in smaller layers"
    case .downlinkLimitChanged(nil): "The link from the server carries more again"
    default: nil
    }
  }

  /// What was said and written, in a line for people each.
  fileprivate var wordsOfPeople: [String] {
    switch self {
    case .transcriptionReceived(let participant, _, let segments):
      segments.filter(\.isFinal).map { "\(participant?.identity ?? "Somebody") says: \($0.text)" }
    case .chatMessageReceived(let participant, let message):
      ["\(participant?.identity ?? "Somebody") \(message.verb): \(message.message)"]
    default: []
    }
  }

  fileprivate var described: (name: String, fields: [String: Any]) {
    switch self {
    case .connectionStateChanged(let state, _): ("connection_state_changed", ["state": state.rawValue])
    case .connected: ("connected", [:])
    case .connectionFailed(let error): ("connection_failed", ["message": error.message])
    case .audioPlaybackFailed(let error):
      ("audio_playback_failed", ["code": error.code.rawValue, "message": error.message])
    case .disconnected(let error): ("disconnected", error.map { ["message": $0.message] } ?? [:])
    case .reconnecting(let mode), .reconnectModeChanged(let mode): ("reconnecting", ["mode": mode.rawValue])
    case .reconnected(let mode): ("reconnected", ["mode": mode.rawValue])
    case .downlinkLimitChanged(let bitrate?): ("downlink_limited", ["bitrate": bitrate])
    case .downlinkLimitChanged(nil): ("downlink_restored", [:])
    case .roomMetadataChanged(let metadata): ("room_metadata_changed", ["metadata": metadata])
    case .recordingChanged(let isRecording): ("recording_changed", ["recording": isRecording])
    case .roomMoved(let name): ("room_moved", ["room": name])
    case .activeSpeakersChanged(let speakers):
      ("active_speakers_changed", ["speakers": speakers.compactMap(\.identity)])
    case .dataReceived(let participant, let data, let topic):
      (
        "data_received",
        ["participant": participant?.identity ?? "", "topic": topic, "text": String(decoding: data, as: UTF8.self)]
      )
    case .transcriptionReceived(let participant, let publication, let segments):
      (
        "transcription_received",
        ["participant": participant?.identity ?? "", "sid": publication?.sid ?? "", "segments": segments.map(\.fields)]
      )
    case .chatMessageReceived(let participant, let message):
      ("chat_message_received", message.fields.merging(["participant": participant?.identity ?? ""]) { $1 })
    default: describedOfParticipant ?? describedOfTrack
    }
  }

  private var describedOfParticipant: (name: String, fields: [String: Any])? {
    switch self {
    case .participantConnected(let participant): ("participant_connected", participant.fields)
    case .participantDisconnected(let participant): ("participant_disconnected", participant.fields)
    case .participantNameChanged(let participant, let name):
      ("participant_name_changed", participant.fields(["name": name ?? ""]))
    case .participantMetadataChanged(let participant, let metadata):
      ("participant_metadata_changed", participant.fields(["metadata": metadata ?? ""]))
    case .participantAttributesChanged(let participant, let attributes):
      ("participant_attributes_changed", participant.fields(["attributes": attributes]))
    case .participantStateChanged(let participant, let state):
      ("participant_state_changed", participant.fields(["state": state.description]))
    case .participantPermissionsChanged(let participant, let permissions):
      ("participant_permissions_changed", participant.fields(["permissions": permissions.fields]))
    case .connectionQualityChanged(let participant, let quality):
      ("connection_quality_changed", participant.fields(["quality": "\(quality)"]))
    case .speakingChanged(let participant, let isSpeaking):
      ("is_speaking_changed", participant.fields(["speaking": isSpeaking]))
    case .subscriptionFailed(let participant, let sid, let error):
      (
        "track_subscription_failed",
        participant.fields(of: sid, ["code": error.code.rawValue, "message": error.message])
      )
    default: nil
    }
  }

  private var describedOfTrack: (name: String, fields: [String: Any]) {
    switch self {
    case .trackPublished(let participant, let publication): ("track_published", publication.fields(participant))
    case .trackUnpublished(let participant, let publication): ("track_unpublished", publication.fields(participant))
    case .trackSubscribed(let participant, let publication, _): ("track_subscribed", publication.fields(participant))
    case .trackUnsubscribed(let participant, let publication, _):
      ("track_unsubscribed", publication.fields(participant))
    case .muteChanged(let participant, let publication, let isMuted):
      (isMuted ? "track_muted" : "track_unmuted", publication.fields(participant))
    case .subscriptionAllowedChanged(let participant, let publication, let isAllowed):
      (
        "track_subscription_permission_changed",
        publication.fields(participant, ["allowed": isAllowed])
      )
    case .streamStateChanged(let participant, let publication, let state):
      ("track_stream_state_changed", publication.fields(participant, ["state": "\(state)"]))
    case .videoDisabled(let participant, let publication, let reason):
      ("video_disabled", publication.fields(participant, ["reason": reason.rawValue]))
    case .videoEnabled(let participant, let publication, let reason):
      ("video_enabled", publication.fields(participant, ["reason": reason.rawValue]))
    case .streamLost(let participant, let publication, _): ("stream_lost", publication.fields(participant))
    case .streamRestored(let participant, let publication, _): ("stream_restored", publication.fields(participant))
    case .codecChanged(let participant, let publication, _):
      ("track_codec_changed", publication.fields(participant, ["codec": publication.media?.codec ?? ""]))
    case .dimensionsChanged(let track, let dimensions):
      ("track_dimensions_changed", ["sid": track.sid ?? "", "size": dimensions.description])
    default: ("other", [:])
    }
  }
}

extension TranscriptionSegment {
  fileprivate var fields: [String: Any] {
    [
      "id": id, "text": text, "language": language, "final": isFinal, "start_time": startTime, "end_time": endTime,
    ]
  }
}

extension ChatMessage {
  fileprivate var verb: String { isDeleted ? "takes back" : editTimestamp == nil ? "writes" : "corrects" }

  fileprivate var fields: [String: Any] {
    [
      "id": id, "message": message, "timestamp": Int(timestamp.timeIntervalSince1970 * 1000),
      "edited": editTimestamp != nil, "deleted": isDeleted, "generated": isGenerated,
    ]
  }
}

extension Participant {
  fileprivate var fields: [String: Any] { fields([:]) }

  fileprivate func fields(_ more: [String: Any]) -> [String: Any] {
    more.merging(["participant": identity ?? sid]) { new, _ in new }
  }
}

extension RemoteParticipant {
  /// Of a track that may be known here by its SID alone.
  fileprivate func fields(of sid: String, _ more: [String: Any]) -> [String: Any] {
    trackPublications[sid]?.fields(self, more) ?? fields(more.merging(["sid": sid]) { new, _ in new })
  }
}

extension RemoteTrackPublication {
  fileprivate func fields(_ participant: Participant, _ more: [String: Any] = [:]) -> [String: Any] {
    participant.fields(more.merging(["sid": sid, "source": source.description]) { new, _ in new })
  }
}

extension ParticipantPermissions {
  fileprivate var fields: [String: Bool] {
    [
      "subscribe": canSubscribe, "publish": canPublish, "publish_data": canPublishData,
      "update_metadata": canUpdateMetadata, "hidden": hidden,
    ]
  }
}
