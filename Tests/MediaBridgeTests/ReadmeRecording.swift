import Egress
import MediaBridge

/// Mixes a room into a file, until everybody has left.
func recordRoom(url: String, token: String, into file: String) async throws -> EgressInfo {
  let room = Room(roomOptions: RoomOptions(autoSubscribe: false, adaptiveStream: true, audioPlayback: .off))
  try await room.connect(url: url, token: token)
  let egress = RoomComposite(room: room, options: CompositeOptions(file: file, layout: .speaker, endsWhenEmpty: true))
  let events = egress.events
  do {
    try await egress.start()
    // Nobody is left, the room is gone, or nothing can be written any more: `finish` says what is missing then.
    for await case .over in events { break }
    _ = try await egress.finish()
  } catch {
    await room.disconnect()
    throw error
  }
  await room.disconnect()
  return await egress.info
}
