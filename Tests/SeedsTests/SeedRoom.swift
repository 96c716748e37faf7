import BridgeTesting
import MediaBridge
import Testing

/// All pages write into `Printed`, so one test runs after another.
@Suite(.serialized) struct SeedsTests {}

/// A room with a synthetic participant, joined as the pages do.
func inRoom(
  _ options: RoomOptions = RoomOptions(), delegate: any RoomDelegate, _ body: (Room, SyntheticRoom) async throws -> Void
) async throws {
  Printed.clear()
  try await Watcher.run(options, delegate: delegate) { try await body($0.room, $0.synthetic) }
}

/// Waits until the participant has published a track of that kind.
func publication(_ kind: Track.Kind, in room: Room) async throws -> RemoteTrackPublication {
  try await eventually("a publication") {
    room.remoteParticipants["alice"]?.trackPublications.values.first { $0.kind == kind }
  }
}
