import BridgeTesting
import LiveKitProtocol
import MediaBridge
import Testing

/// All pages write into `Printed`, so one test runs after another.
@Suite(.serialized) struct SeedsTests {}

/// A room with synthetic participants, joined as the pages do.
func inRoom(
  _ options: RoomOptions = RoomOptions(), codecs: [String: String] = ["alice": "vp8"],
  delegate: any RoomDelegate = Quiet(), _ body: (Room, Watcher) async throws -> Void
) async throws {
  Printed.clear()
  try await Watcher.run(options, codecs: codecs, delegate: delegate) { try await body($0.room, $0) }
}

/// Hears nothing.
final class Quiet: RoomDelegate {}

/// A desktop for the windows that `body` opens. The examples close none: they have to go with what shows them.
func onDesktop(_ body: (Desktop) async throws -> Void) async throws {
  let desktop = try Desktop()
  try await body(desktop)
  try await eventually("the end of every window") { desktop.clients == 0 }
}

extension Watcher {
  /// Waits until the newest that the server was told of a track is so.
  func told(
    of publication: RemoteTrackPublication, _ what: String,
    _ matches: @escaping @Sendable (Livekit_UpdateTrackSettings) -> Bool
  ) async throws {
    try await eventually(what) {
      told.values.last { $0.trackSids.contains(publication.sid) }.map(matches) ?? false
    }
  }
}

/// Waits until the participant has published a track of that kind.
func publication(_ kind: Track.Kind, in room: Room) async throws -> RemoteTrackPublication {
  try await eventually("a publication") {
    room.remoteParticipants["alice"]?.trackPublications.values.first { $0.kind == kind }
  }
}

extension Desktop {
  /// Waits until there is something in a window that is not black.
  func shows(_ window: Window, _ what: String) async throws {
    let place = (0..<min(Int(window.size.width), 400), 0..<min(Int(window.size.height), 300))
    try await eventually(what) { try screenshot().distance(from: { _, _ in .black }, in: place) > 10 }
  }
}
