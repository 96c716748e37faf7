import Egress
import MediaBridge

/// Records a participant into a file that ends in .mkv, .webm or .mp4.
func record(
  _ identity: String, into file: String, for time: Duration, url: String, token: String
) async throws -> OutputProgress {
  let options = RecordingOptions(file: file, participant: identity)
  let room = Room(roomOptions: RoomOptions(autoSubscribe: false))
  try await room.connect(url: url, token: token)
  let recorder = Recorder(room: room, options: options)
  try await recorder.start()
  try await Task.sleep(for: time)
  let progress = try await recorder.finish()
  await room.disconnect()
  return progress
}
