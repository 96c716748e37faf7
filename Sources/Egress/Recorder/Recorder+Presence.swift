import MediaBridge
import MediaCore

/// Whether those are there whose leaving may end a recording.
struct Presence: Sendable {
  /// Whether it was told that the recorded participant has left.
  var isAway = false
  /// Since when the condition holds that ends the recording; nil while it does not.
  private(set) var overSince: MediaTime?
  private(set) var isOver = false

  /// A client that lost its connection comes back under the same name, and a page that is loaded anew does.
  static let grace = Duration.seconds(2)

  /// Notes whether the condition holds.
  mutating func note(_ holds: Bool, at time: MediaTime) {
    guard !isOver else { return }
    overSince = holds ? overSince ?? time : nil
    isOver = overSince.map { time - $0 >= Self.grace } ?? false
  }
}

// Who leaves, and whether that ends the recording.
extension Recorder {
  func departed(_ participant: RemoteParticipant) {
    guard let identity = tracks.identity, participant.identity == identity, room.remoteParticipants[identity] == nil,
      !presence.isAway
    else { return }
    presence.isAway = true
    onUpdate(.participantLeft(identity))
  }

  func returned(_ participant: RemoteParticipant) {
    guard let identity = tracks.identity, participant.identity == identity, presence.isAway else { return }
    presence.isAway = false
    onUpdate(.participantReturned(identity))
  }

  /// While the connection is being brought back nobody is known to have left.
  func watchPresence() {
    guard room.connectionState == .connected, let ending = options.ending, let identity = tracks.identity else {
      return
    }
    let participants = room.remoteParticipants
    let holds =
      switch ending {
      case .participantLeft: participants[identity] == nil
      case .roomEmpty: participants.values.allSatisfy { !$0.mayPublish }
      }
    presence.note(holds, at: .now)
  }
}

extension RemoteParticipant {
  var mayPublish: Bool { permissions.canPublish || !trackPublications.isEmpty }
}
