import Foundation
import MediaBridge
import MediaCore

/// Implements every method of the three delegates, and notes each call in a line: whose delegate was called, the
/// method, and its arguments.
final class DelegateRecorder: RoomDelegate, ParticipantDelegate, TrackDelegate, Sendable {
  private struct State {
    var lines: [String] = []
    var measured: [String] = []
    var speakers = ""
    var isNoting = false
    var wasAlwaysAlone = true
  }
  private let state = Locked(State())

  /// Apart from those that come each second.
  var lines: [String] { state.withLock { $0.lines } }
  /// Whose statistics were told, and how.
  var measured: Set<String> { state.withLock { Set($0.measured) } }
  /// Whether no call came during another one.
  var wasAlwaysAlone: Bool { state.withLock { $0.wasAlwaysAlone } }

  private func note(_ arguments: String?..., of method: String = #function) {
    let line = ([Self.name(of: method)] + arguments.map { $0 ?? "none" }).joined(separator: " ")
    alone { $0.lines.append(line) }
  }

  private func alone(_ body: (inout State) -> Void) {
    state.withLock { state in
      if state.isNoting { state.wasAlwaysAlone = false }
      state.isNoting = true
    }
    // Time for another call, if one could come meanwhile.
    usleep(2000)
    state.withLock { state in
      body(&state)
      state.isNoting = false
    }
  }

  /// `room didUpdateName` of `room(_:participant:didUpdateName:)`.
  private static func name(of method: String) -> String {
    let parts = method.split { "(:)".contains($0) }
    let label = parts.dropFirst().first { $0.contains("did") || $0.contains("Did") }
    return [parts.first, label].compactMap { $0.map(String.init) }.joined(separator: " ")
  }

  // MARK: RoomDelegate

  func room(_ room: Room, didUpdateConnectionState state: ConnectionState, from old: ConnectionState) {
    note(old.rawValue, state.rawValue)
  }
  func roomDidConnect(_ room: Room) { note() }
  func room(_ room: Room, didFailToConnectWithError error: LiveKitError?) { note(error?.code.rawValue) }
  func room(_ room: Room, didDisconnectWithError error: LiveKitError?) { note(error?.code.rawValue) }
  func room(_ room: Room, didFailToPlayAudioWithError error: LiveKitError) { note(error.code.rawValue) }
  func roomIsReconnecting(_ room: Room) { note() }
  func roomDidReconnect(_ room: Room) { note() }
  func room(_ room: Room, didStartReconnectWithMode reconnectMode: ReconnectMode) { note(reconnectMode.rawValue) }
  func room(_ room: Room, didCompleteReconnectWithMode reconnectMode: ReconnectMode) { note(reconnectMode.rawValue) }
  func room(_ room: Room, didUpdateDownlinkLimit bitrate: Int?) { note(bitrate.map(String.init)) }
  func room(_ room: Room, didUpdateMetadata metadata: String?) { note(metadata) }
  func room(_ room: Room, didUpdateIsRecording isRecording: Bool) { note("\(isRecording)") }
  func room(_ room: Room, didMoveToRoomNamed roomName: String) { note(roomName) }
  func room(_ room: Room, didUpdateSpeakingParticipants participants: [Participant]) {
    let speakers = participants.compactMap(\.identity).joined(separator: ",")
    // Told again whenever the levels are new.
    let isNews = state.withLock { state in
      defer { state.speakers = speakers }
      return state.speakers != speakers
    }
    if isNews { note(speakers) }
  }
  func room(_ room: Room, participantDidConnect participant: RemoteParticipant) {
    note(participant.identity)
    participant.delegates.add(delegate: self)
  }
  func room(_ room: Room, participantDidDisconnect participant: RemoteParticipant) { note(participant.identity) }
  func room(_ room: Room, participant: Participant, didUpdateName name: String) { note(participant.identity, name) }
  func room(_ room: Room, participant: Participant, didUpdateMetadata metadata: String?) {
    note(participant.identity, metadata)
  }
  func room(_ room: Room, participant: Participant, didUpdateAttributes attributes: [String: String]) {
    note(participant.identity, attributes.summary)
  }
  func room(_ room: Room, participant: Participant, didUpdatePermissions permissions: ParticipantPermissions) {
    note(participant.identity, permissions.summary)
  }
  func room(_ room: Room, participant: Participant, didUpdateConnectionQuality quality: ConnectionQuality) {
    note(participant.identity, "\(quality)")
  }
  func room(_ room: Room, participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication) {
    note(participant.identity, publication.name)
  }
  func room(_ room: Room, participant: RemoteParticipant, didUnpublishTrack publication: RemoteTrackPublication) {
    note(participant.identity, publication.name)
  }
  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    note(participant.identity, publication.name)
    publication.track?.delegates.add(delegate: self)
  }
  func room(_ room: Room, participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication) {
    note(participant.identity, publication.name)
  }
  func room(
    _ room: Room, participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: String, error: any Error
  ) { note(participant.identity, participant.name(ofTrack: trackSid), (error as? LiveKitError)?.code.rawValue) }
  func room(
    _ room: Room, participant: Participant, trackPublication: TrackPublication, didUpdateIsMuted isMuted: Bool
  ) { note(participant.identity, trackPublication.name, "\(isMuted)") }
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateIsSubscriptionAllowed isAllowed: Bool
  ) { note(participant.identity, trackPublication.name, "\(isAllowed)") }
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateStreamState streamState: StreamState
  ) { note(participant.identity, trackPublication.name, "\(streamState)") }
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didDisableVideo reason: VideoChangeReason
  ) { note(participant.identity, trackPublication.name, reason.rawValue) }
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didEnableVideo reason: VideoChangeReason
  ) { note(participant.identity, trackPublication.name, reason.rawValue) }
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication, didLoseStream track: Track
  ) { note(participant.identity, trackPublication.name, track.name) }
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didRestoreStream track: Track
  ) { note(participant.identity, trackPublication.name, track.name) }
  func room(_ room: Room, participant: RemoteParticipant?, didReceiveData data: Data, forTopic topic: String) {
    note(participant?.identity, String(decoding: data, as: UTF8.self), topic)
  }
  func room(
    _ room: Room, participant: Participant, trackPublication: TrackPublication,
    didReceiveTranscriptionSegments segments: [TranscriptionSegment]
  ) { note(participant.identity, trackPublication.name, segments.map(\.text).joined()) }
  func room(_ room: Room, participant: RemoteParticipant?, didReceiveChatMessage message: ChatMessage) {
    note(participant?.identity, message.message)
  }
  func room(
    _ room: Room, track: RemoteVideoTrack, didUpdateStatistics statistics: TrackStatistics,
    simulcastStatistics: [VideoCodec: TrackStatistics]
  ) { alone { $0.measured.append("room \(track.name) \(statistics.summary)") } }

  // MARK: ParticipantDelegate

  func participant(_ participant: Participant, didUpdateName name: String) { note(participant.identity, name) }
  func participant(_ participant: Participant, didUpdateMetadata metadata: String?) {
    note(participant.identity, metadata)
  }
  func participant(_ participant: Participant, didUpdateAttributes attributes: [String: String]) {
    note(participant.identity, attributes.summary)
  }
  func participant(_ participant: Participant, didUpdatePermissions permissions: ParticipantPermissions) {
    note(participant.identity, permissions.summary)
  }
  func participant(_ participant: Participant, didUpdateIsSpeaking isSpeaking: Bool) {
    note(participant.identity, "\(isSpeaking)")
  }
  func participant(_ participant: Participant, didUpdateConnectionQuality quality: ConnectionQuality) {
    note(participant.identity, "\(quality)")
  }
  func participant(_ participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication) {
    note(participant.identity, publication.name)
  }
  func participant(_ participant: RemoteParticipant, didUnpublishTrack publication: RemoteTrackPublication) {
    note(participant.identity, publication.name)
  }
  func participant(_ participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    note(participant.identity, publication.name)
  }
  func participant(_ participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication) {
    note(participant.identity, publication.name)
  }
  func participant(
    _ participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: String, error: any Error
  ) { note(participant.identity, participant.name(ofTrack: trackSid), (error as? LiveKitError)?.code.rawValue) }
  func participant(
    _ participant: Participant, trackPublication: TrackPublication, didUpdateIsMuted isMuted: Bool
  ) { note(participant.identity, trackPublication.name, "\(isMuted)") }
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateIsSubscriptionAllowed isAllowed: Bool
  ) { note(participant.identity, trackPublication.name, "\(isAllowed)") }
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateStreamState streamState: StreamState
  ) { note(participant.identity, trackPublication.name, "\(streamState)") }
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didDisableVideo reason: VideoChangeReason
  ) { note(participant.identity, trackPublication.name, reason.rawValue) }
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didEnableVideo reason: VideoChangeReason
  ) { note(participant.identity, trackPublication.name, reason.rawValue) }
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication, didLoseStream track: Track
  ) { note(participant.identity, trackPublication.name, track.name) }
  func participant(
    _ participant: RemoteParticipant, trackPublication: RemoteTrackPublication, didRestoreStream track: Track
  ) { note(participant.identity, trackPublication.name, track.name) }
  func participant(_ participant: RemoteParticipant, didReceiveData data: Data, forTopic topic: String) {
    note(participant.identity, String(decoding: data, as: UTF8.self), topic)
  }
  func participant(
    _ participant: Participant, trackPublication: TrackPublication,
    didReceiveTranscriptionSegments segments: [TranscriptionSegment]
  ) { note(participant.identity, trackPublication.name, segments.map(\.text).joined()) }
  func participant(_ participant: RemoteParticipant, didReceiveChatMessage message: ChatMessage) {
    note(participant.identity, message.message)
  }

  // MARK: TrackDelegate

  func track(_ track: any VideoTrack, didUpdateDimensions dimensions: Dimensions?) {
    note(track.name, dimensions?.description)
  }
  func track(
    _ track: Track, didUpdateStatistics statistics: TrackStatistics,
    simulcastStatistics: [VideoCodec: TrackStatistics]
  ) { alone { $0.measured.append("track \(track.name) \(statistics.summary)") } }
}

/// Knows the second spellings alone.
final class SecondSpellings: RoomDelegate, Sendable {
  private let notes = Locked<[String]>([])
  var lines: [String] { notes.withLock { $0 } }
  private func note(_ line: String) { notes.withLock { $0.append(line) } }

  func room(_ room: Room, participantDidJoin participant: RemoteParticipant) {
    note("participantDidJoin \(participant.identity ?? "")")
  }
  func room(
    _ room: Room, participant: RemoteParticipant, didSubscribe track: any RemoteTrack,
    publication: RemoteTrackPublication
  ) { note("didSubscribe \(track.name) \(publication.name)") }
  func room(
    _ room: Room, participant: RemoteParticipant, didUnsubscribe track: any RemoteTrack,
    publication: RemoteTrackPublication
  ) { note("didUnsubscribe \(track.name) \(publication.name)") }
  func room(_ room: Room, participant: Participant, didUnpublishTrack publication: TrackPublication) {
    note("didUnpublishTrack \(publication.name)")
  }
  func room(
    _ room: Room, participant: RemoteParticipant, publication: RemoteTrackPublication, didUpdateIsMuted isMuted: Bool
  ) { note("didUpdateIsMuted \(publication.name) \(isMuted)") }
}

extension RemoteParticipant {
  fileprivate func name(ofTrack sid: String) -> String? { trackPublications[sid]?.name }
}

extension [String: String] {
  fileprivate var summary: String { map { "\($0.key)=\($0.value)" }.sorted().joined(separator: ",") }
}

extension ParticipantPermissions {
  fileprivate var summary: String {
    let all = [
      "subscribe": canSubscribe, "publish": canPublish, "data": canPublishData, "metadata": canUpdateMetadata,
      "hidden": hidden,
    ]
    return all.filter(\.value).keys.sorted().joined(separator: ",")
  }
}

extension TrackStatistics {
  /// Which kind of media arrives.
  fileprivate var summary: String {
    (inboundRtp ?? []).filter { $0.packetsReceived ?? 0 > 0 }.map(\.kind).joined(separator: ",")
  }
}
