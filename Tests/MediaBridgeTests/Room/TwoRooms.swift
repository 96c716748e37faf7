import BridgeTesting
import LiveKitProtocol
import MediaBridge

/// Runs a test with alice and bob in one room, who see each other.
func withTwoRoomsAndServer(
  _ body: (_ synthetic: SyntheticRoom, _ alice: Room, _ bob: Room) async throws -> Void
) async throws {
  let synthetic = try await SyntheticRoom.start(codecs: [:])
  let rooms = [Room(), Room()]
  let outcome: Result<Void, any Error>
  do {
    for (room, identity) in zip(rooms, ["alice", "bob"]) {
      let token = try SyntheticRoom.token(identity, VideoGrant(room: SyntheticRoom.name, roomJoin: true))
      try await room.connect(url: synthetic.url, token: token)
    }
    try await eventually("each other") { rooms[0].remoteParticipants["bob"] != nil }
    outcome = .success(try await body(synthetic, rooms[0], rooms[1]))
  } catch { outcome = .failure(error) }
  for room in rooms { await room.disconnect() }
  await synthetic.stop()
  try outcome.get()
}

/// The same, where the server is to do nothing of its own accord.
func withTwoRooms(_ body: (_ alice: Room, _ bob: Room) async throws -> Void) async throws {
  try await withTwoRoomsAndServer { _, alice, bob in try await body(alice, bob) }
}

extension SyntheticRoom {
  /// Has somebody's session end, and another one begin.
  func renewSession(of identity: String) {
    var response = Livekit_SignalResponse()
    response.leave.action = .reconnect
    server.tell(response, to: identity)
  }
}
