import MediaBridge
import Synchronization

final class FrameCounter: RoomDelegate, VideoRenderer {
  let frames = Atomic(0)

  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    (publication.track as? RemoteVideoTrack)?.add(videoRenderer: self)
  }

  func render(frame: VideoFrame) { frames.add(1, ordering: .relaxed) }
}

func countFrames(url: String, token: String, for time: Duration) async throws -> Int {
  let (room, counter) = (Room(roomOptions: RoomOptions(audioPlayback: .off)), FrameCounter())
  room.add(delegate: counter)
  try await room.connect(url: url, token: token)
  // Whoever cancels this gets what was counted until then.
  try? await Task.sleep(for: time)
  if let error = room.disconnectError { throw error }
  await room.disconnect()
  return counter.frames.load(ordering: .relaxed)
}
