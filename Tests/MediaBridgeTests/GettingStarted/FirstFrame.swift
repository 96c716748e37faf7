import Foundation
import MediaBridge

/// Saves the first frame that anybody shows as a PNG file.
func saveFirstFrame(url: String, token: String, to file: URL) async throws {
  let room = Room()
  // From before the connection on, so that no track is missed.
  let events = room.events
  try await room.connect(url: url, token: token)
  let frame = await firstFrame(events)
  await room.disconnect()
  try frame?.pngData().write(to: file)
}

private func firstFrame(_ events: AsyncStream<RoomEvent>) async -> VideoFrame? {
  for await event in events {
    guard case .trackSubscribed(_, _, let track as RemoteVideoTrack) = event else { continue }
    for await frame in track.frames() { return frame }
  }
  return nil
}
