import Egress
import MediaBridge

/// Records a participant into a file that ends in .mkv, .webm or .mp4.
func record(
  _ identity: String, into file: String, for time: Duration, url: String, token: String
) async throws -> OutputProgress {
  var options = RecordingOptions(file: file, participant: identity)
  options.duration = time
  let room = Room(roomOptions: RoomOptions(autoSubscribe: false))
  try await room.connect(url: url, token: token)
  let recorder = Recorder(room: room, options: options)
  let events = recorder.events
  do {
    try await recorder.start()
    // It is as long as asked for, the room is gone, or nothing can be written any more.
    for await case .over in events { break }
    let progress = try await recorder.finish()
    await room.disconnect()
    return progress
  } catch {
    await room.disconnect()
    throw error
  }
}
