import Egress
import MediaBridge

/// What the page `Egress.md` shows behind its first example, which is `ReadmeRecording.swift`.
enum EgressPage {
  static func record(in room: Room) async throws -> OutputProgress {
    let recorder = Recorder(room: room, options: RecordingOptions(file: "alice.mp4", participant: "alice"))
    try await recorder.start()
    try await Task.sleep(for: .seconds(30))
    let progress = try await recorder.finish()
    return progress
  }

  static func severalDestinations() -> RecordingOptions {
    let destinations = [
      OutputDestination("alice.mp4", values: ["bitrate": "1500"]), OutputDestination("voice", output: "ogg"),
    ]
    let options = RecordingOptions(destinations: destinations, participant: "alice")
    return options
  }

  static func encoded() -> RecordingOptions {
    let encoding = EncodingOptions(preset: .h264720p30, audioBitrate: 96, keyFrameInterval: .seconds(2))
    let options = RecordingOptions(file: "alice.mp4", encoding: encoding, participant: "alice")
    return options
  }

  static func mix(url: String, token: String) async throws -> OutputProgress {
    let room = Room(roomOptions: RoomOptions(autoSubscribe: false, adaptiveStream: true, audioPlayback: .off))
    try await room.connect(url: url, token: token)
    let composite = RoomComposite(room: room, options: CompositeOptions(file: "room.mp4", layout: .grid))
    try await composite.start()
    await composite.set(layout: .speaker)
    try await composite.set(label: CompositeLabel("The talk begins at nine", duration: .seconds(10)))
    let progress = try await composite.finish()
    return progress
  }
}
