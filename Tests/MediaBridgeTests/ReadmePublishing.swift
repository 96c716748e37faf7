import MediaBridge

/// Shows a camera in a room for some time, muted in the last second.
func showCamera(
  url: String, token: String, options: CameraCaptureOptions = CameraCaptureOptions(), for time: Duration
) async throws {
  let room = Room(roomOptions: RoomOptions(autoSubscribe: false))
  try await room.connect(url: url, token: token)
  do {
    let camera = LocalVideoTrack.createCameraTrack(options: options)
    let publication = try await room.localParticipant.publish(videoTrack: camera)
    try await Task.sleep(for: time)
    try await publication.mute()
    try await Task.sleep(for: .seconds(1))
  } catch {
    await room.disconnect()
    throw error
  }
  await room.disconnect()
}
