import MediaBridge
import MediaCore

/// Whether those are there whose leaving may end a recording.
struct Presence: Sendable {
  /// Whether it was told that the recorded participant has left.
  var isAway = false
  /// Since when the condition holds that ends the recording; nil while it does not.
  private(set) var overSince: MediaTime?
  private(set) var isOver = false
  private var grace = Self.usualGrace
  /// Whether a person was recorded.
  private var hasPeople = false

  /// Somebody who may publish.
  struct Guest: Sendable {
    /// Whether they are in the recording, or may be.
    var isRecorded: Bool
    /// A program that stays for as long as others do, as LiveKit's server takes it.
    var isDependent: Bool
  }

  /// A client that lost its connection comes back under the same name, and a page that is loaded anew does.
  static let usualGrace = RecordingOptions.usualEmptyTimeout

  /// When the recording is to end; nil where nothing has ended it. Who waits longer for somebody has that wait in it.
  var end: MediaTime? {
    guard isOver, let overSince else { return nil }
    return grace > Self.usualGrace ? overSince + grace : overSince
  }

  /// Until when what does not come is stood in for: not beyond what may be the end.
  func reading(at now: MediaTime) -> MediaTime {
    guard let overSince, grace <= Self.usualGrace || isOver else { return now }
    return min(now, end ?? overSince)
  }

  /// Whether nobody is left. Agents, and recorders of the server's own, are nobody: they may wait for the end of this as
  /// it does for theirs. Where they alone were recorded they count.
  /// - Parameter guests: all who are there.
  mutating func isEmpty(_ guests: [Guest]) -> Bool {
    hasPeople = hasPeople || guests.contains { $0.isRecorded && !$0.isDependent }
    return guests.allSatisfy { hasPeople && $0.isDependent }
  }

  /// Notes whether the condition holds.
  /// - Parameter grace: how long it has to.
  mutating func note(_ holds: Bool, at time: MediaTime, grace: Duration = usualGrace) {
    guard !isOver else { return }
    self.grace = grace
    overSince = holds ? overSince ?? time : nil
    isOver = overSince.map { time - $0 >= grace } ?? false
  }
}

extension JobSource {
  public var ending: RecordingOptions.Ending? { ended }
  var ended: RecordingOptions.Ending? {
    if job.presence.isOver { return asked.ending }
    if run?.isActive == true, room.wasClosed { return .roomEmpty }
    return asked.duration.map { jobAge >= $0 } == true ? .durationReached : nil
  }

  func counts(_ participant: RemoteParticipant) -> Bool { true }

  /// While the connection is being brought back nobody is known to have left, and before the first moment nobody has.
  func watchPresence() {
    guard job.isTold, room.connectionState == .connected, let ending = asked.ending else { return }
    let participants = room.remoteParticipants
    let holds =
      switch ending {
      case .participantLeft: identity.map { participants[$0] == nil } ?? false
      case .roomEmpty:
        job.presence.isEmpty(
          participants.values.filter { $0.mayPublish && counts($0) }.map { one in
            one.guest(isRecorded: identity == nil || identity == one.identity)
          })
      case .tracksEnded:
        participants.values.allSatisfy { Set($0.trackPublications.keys).isDisjoint(with: trackSids) }
      case .durationReached: false
      }
    job.presence.note(holds, at: .now, grace: asked.emptyTimeout)
  }

  func watchRoom() { if job.isTold { job.course.watch(room, endedBy: ended) } }
}

extension Room {
  /// Why it is gone; nil while it is not, where it was closed, and for who left it by `disconnect()`.
  var failure: LiveKitError? {
    guard connectionState == .disconnected, !wasClosed else { return nil }
    return disconnectError
  }

  /// Whether the server has closed it, because everybody had left or since somebody has ended it for all (`DeleteRoom`): that
  /// is an end of what was recorded and no failure, as with LiveKit Egress.
  package var wasClosed: Bool { [.roomClosed, .roomDeleted].contains(disconnectError?.code) }
}

extension RemoteParticipant {
  var mayPublish: Bool { permissions.canPublish || !trackPublications.isEmpty }

  func guest(isRecorded: Bool) -> Presence.Guest {
    Presence.Guest(isRecorded: isRecorded, isDependent: [.agent, .egress].contains(kind))
  }
}
