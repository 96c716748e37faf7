import MediaBridge

/// Joins a room, looks who is there, and leaves.
func identities(url: String, token: String) async throws -> [String] {
  let room = Room()
  try await room.connect(url: url, token: token)
  let identities = room.remoteParticipants.keys.sorted()
  await room.disconnect()
  return identities
}
