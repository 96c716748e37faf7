// Counts the frames of everyone's video: the example of the README as a program.
//
//     swift run CountFrames SECONDS [URL TOKEN]
//
// It shows how a room is joined, what a delegate is told, and how a renderer gets the frames of a track. Without URL
// and TOKEN it takes LIVEKIT_URL and LIVEKIT_TOKEN.

import ExampleSupport
import MediaBridge
import Synchronization

@main struct CountFrames {
  static func main() async {
    await runExample("SECONDS") { arguments in
      guard let seconds = Double(arguments.own[0]), seconds > 0 else {
        throw LiveKitError(.invalidParameter, "'\(arguments.own[0])' is no number of seconds")
      }
      let frames = try await countFrames(url: arguments.url, token: arguments.token, for: .seconds(seconds))
      print("\(frames) frames in \(arguments.own[0]) s")
    }
  }
}

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
