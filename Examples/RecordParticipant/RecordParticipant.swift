// Records what a participant sends into a file, until Ctrl-C.
//
//     swift run RecordParticipant IDENTITY FILE [URL TOKEN]
//
// It shows the recorder of the library: waiting for the participant, what is not in the file and why, and an end that
// completes the file whatever happened. FILE ends in .mkv, .webm or .mp4. Without URL and TOKEN it takes
// LIVEKIT_URL and LIVEKIT_TOKEN.

import Egress
import ExampleSupport
import MediaBridge

@main struct RecordParticipant {
  static func main() async {
    await runExample("IDENTITY", "FILE") { arguments in
      let options = RecordingOptions(file: arguments.own[1], participant: arguments.own[0])
      // The recorder subscribes to what it needs.
      let room = Room(roomOptions: RoomOptions(autoSubscribe: false))
      try await room.connect(url: arguments.url, token: arguments.token)
      let recorder = Recorder(room: room, options: options)
      Task { [events = recorder.events] in
        for await event in events {
          switch event {
          case .waiting(let missing): print("waiting for \(missing)")
          case .omitted(let omission): print("not recorded: \(omission)")
          default: break
          }
        }
      }
      try await recorder.start()
      print("recording; Ctrl-C ends it")
      await untilInterrupted(in: room)
      let progress = try await recorder.finish()
      await room.disconnect()
      print("\(arguments.own[1]): \(progress.duration), \(progress.bytes) bytes")
      if let error = room.disconnectError { throw error }
    }
  }
}
