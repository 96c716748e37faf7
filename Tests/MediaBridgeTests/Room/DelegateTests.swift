import BridgeTesting
import Dispatch
import Foundation
import MediaBridge
import MediaCore
import Testing

@Suite struct DelegateTests {
  @Test func roomParticipantAndTrackAreToldInOrderOnOneQueue() async throws {
    let diary = Diary()
    let events = Collector<RoomEvent>()
    try await Watcher.run(delegate: diary, events: events) { _ in
      try await eventually("the first picture's size") { diary.lines.contains("track 640x360") }
    }
    try await eventually("word of the end") { diary.lines.last == "left" }
    let lines = diary.lines
    #expect(lines.first == "connecting")
    #expect(lines.suffix(2) == ["disconnected", "left"])
    for kind in ["audio", "video"] {
      #expect(
        lines.filter { $0.hasSuffix(kind) }
          == ["published", "subscribed", "unsubscribed", "unpublished"].flatMap {
            ["room: \($0) \(kind)", "alice: \($0) \(kind)"]
          })
    }
    #expect(events.values.count { if case .trackSubscribed = $0 { true } else { false } } == 2)
    #expect(diary.wasAlwaysAlone)
  }

  @Test func delegatesAreHeldWeaklyAndCanBeRemoved() async throws {
    let room = Room()
    let stays = Diary()
    let goes = Diary()
    var isForgotten: Diary? = Diary()
    weak let forgotten = isForgotten
    for delegate in [stays, goes, isForgotten!] { room.delegates.add(delegate: delegate) }
    room.delegates.add(delegate: stays)
    room.remove(delegate: goes)
    isForgotten = nil
    #expect(forgotten == nil)
    await #expect(throws: LiveKitError.self) { try await room.connect(url: "ws://127.0.0.1:1", token: "a.b.c") }
    try await eventually("word of the failure") { stays.lines.contains("failed") }
    #expect(stays.lines == ["connecting", "disconnected", "failed"])
    #expect(goes.lines.isEmpty)
  }
}

/// Writes down what it is told.
private final class Diary: RoomDelegate, ParticipantDelegate, TrackDelegate, Sendable {
  private struct State {
    var lines: [String] = []
    var isWriting = false
    var wasAlwaysAlone = true
  }
  private let state = Locked(State())
  private let renderer = VideoFrameHandler { _ in }

  var lines: [String] { state.withLock { $0.lines } }
  var wasAlwaysAlone: Bool { state.withLock { $0.wasAlwaysAlone } }

  private func write(_ line: String) {
    state.withLock { state in
      if state.isWriting { state.wasAlwaysAlone = false }
      state.isWriting = true
    }
    // Time for another call, if one could come meanwhile.
    usleep(2000)
    state.withLock { state in
      state.lines.append(line)
      state.isWriting = false
    }
  }

  func room(_ room: Room, didUpdateConnectionState state: ConnectionState, from old: ConnectionState) {
    write(state.rawValue)
  }
  func room(_ room: Room, didFailToConnectWithError error: LiveKitError?) { write("failed") }
  func room(_ room: Room, didDisconnectWithError error: LiveKitError?) { write("left") }
  func room(_ room: Room, participantDidJoin participant: RemoteParticipant) {
    participant.delegates.add(delegate: self)
  }
  func room(_ room: Room, participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication) {
    write("room: published \(publication.kind)")
  }
  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    write("room: subscribed \(publication.kind)")
    guard let track = publication.track as? RemoteVideoTrack else { return }
    track.delegates.add(delegate: self)
    track.add(videoRenderer: renderer)
  }
  func room(_ room: Room, participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication) {
    write("room: unsubscribed \(publication.kind)")
  }
  func room(_ room: Room, participant: Participant, didUnpublishTrack publication: TrackPublication) {
    write("room: unpublished \(publication.kind)")
  }
  func participant(_ participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication) {
    write("\(participant.identity ?? ""): published \(publication.kind)")
  }
  func participant(_ participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    write("\(participant.identity ?? ""): subscribed \(publication.kind)")
  }
  func participant(_ participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication) {
    write("\(participant.identity ?? ""): unsubscribed \(publication.kind)")
  }
  func participant(_ participant: RemoteParticipant, didUnpublishTrack publication: RemoteTrackPublication) {
    write("\(participant.identity ?? ""): unpublished \(publication.kind)")
  }
  func track(_ track: any VideoTrack, didUpdateDimensions dimensions: Dimensions?) {
    write("track \(dimensions.map(\.description) ?? "none")")
  }
}
