// Records what a participant sends into a file, until Ctrl-C.
//
//     swift run RecordParticipant IDENTITY FILE [URL TOKEN]
//
// It shows the recorder of the library: waiting for the participant, what is not in the file and why, and an end that
// completes the file whatever happened. FILE ends in .mkv, .webm or .mp4, and holds nothing yet. Without URL and TOKEN it
// takes LIVEKIT_URL and LIVEKIT_TOKEN.

import Egress
import ExampleSupport
import MediaBridge

@main struct RecordParticipant {
  static func main() async {
    await runExample("IDENTITY", "FILE") { arguments in
      let file = arguments.own[1]
      var options = RecordingOptions(file: file, participant: arguments.own[0])
      // What was recorded before stays.
      options.replacesFiles = false
      // The recorder subscribes to what it needs.
      let room = Room(roomOptions: RoomOptions(autoSubscribe: false))
      try await room.connect(url: arguments.url, token: arguments.token)
      do {
        let progress = try await record(Recorder(room: room, options: options), in: room)
        await room.disconnect()
        print("\(file): \(progress.duration), \(progress.bytes) bytes")
      } catch {
        await room.disconnect()
        throw error
      }
    }
  }

  /// Returns at Ctrl-C, or as soon as the recording is over by itself.
  /// - Throws: why the file does not hold all of it, such as a full disk or a room that is gone.
  private static func record(_ recorder: Recorder, in room: Room) async throws -> OutputProgress {
    let telling = Task { [events = recorder.events] in
      for await event in events {
        tell(event)
        if case .over = event { break }
      }
    }
    let starting = Task { try await recorder.start() }
    // From here on, so that a file that nobody has come for is given back.
    let interruption = Task {
      await untilInterrupted(in: room)
      starting.cancel()
      telling.cancel()
    }
    defer { interruption.cancel() }
    try await starting.value
    print("recording; Ctrl-C ends it")
    await telling.value
    return try await recorder.finish()
  }

  private static func tell(_ event: EgressEvent) {
    switch event {
    case .waiting(let missing): print("waiting for \(printable(missing))")
    case .omitted(let omission): print("not recorded: \(printable("\(omission)"))")
    default: break
    }
  }
}
