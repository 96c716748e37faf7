// Saves what every camera of a room shows as a JPEG file, once in so many seconds, until Ctrl-C.
//
//     swift run SaveSnapshots FOLDER SECONDS [URL TOKEN]
//
// It shows the events of a room and the frames of a track as asynchronous sequences, and file names that hold what
// strangers call themselves. Adaptive stream leaves at the server what nobody shows: all but the cameras. Without URL and
// TOKEN it takes LIVEKIT_URL and LIVEKIT_TOKEN.

import ExampleSupport
import Foundation
import MediaBridge

@main struct SaveSnapshots {
  static func main() async {
    await runExample("FOLDER", "SECONDS") { arguments in
      let snapshots = try SaveSnapshots(folder: arguments.own[0], seconds: arguments.own[1])
      let room = Room(roomOptions: RoomOptions(audioPlayback: .off))
      // From before the connection on, so that nobody is missed who is there already.
      let events = room.events
      try await room.connect(url: arguments.url, token: arguments.token)
      let saving = Task { try await snapshots.save(events, of: room) }
      await untilInterrupted(in: room)
      await room.disconnect()
      try await saving.value
      if let error = room.disconnectError { throw error }
    }
  }

  private let folder: URL
  private let interval: Duration

  private init(folder: String, seconds: String) throws {
    guard let seconds = Double(seconds), seconds > 0 else {
      throw LiveKitError(.invalidParameter, "'\(seconds)' is no number of seconds")
    }
    self.folder = URL(filePath: folder, directoryHint: .isDirectory)
    interval = .seconds(seconds)
    try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
  }

  /// Until the room is left, which it is when a file cannot be saved.
  private func save(_ events: AsyncStream<RoomEvent>, of room: Room) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      for await event in events {
        guard case .trackSubscribed(let participant, let publication, let track as RemoteVideoTrack) = event,
          publication.source == .camera
        else { continue }
        let values: [FileNameTemplate.Placeholder: String] = [
          .publisherIdentity: participant.identity ?? "", .trackID: publication.sid,
        ]
        group.addTask {
          do { try await save(track, naming: values) } catch {
            await room.disconnect()
            throw error
          }
        }
      }
    }
  }

  /// Until the track ends.
  private func save(_ track: RemoteVideoTrack, naming values: [FileNameTemplate.Placeholder: String]) async throws {
    let name = try FileNameTemplate("{publisher_identity}-{track_id}-{utc}.jpg")
    var next = ContinuousClock.now
    for await frame in track.frames(bufferingNewest: 1) where ContinuousClock.now >= next {
      let time = Date.now.formatted(Date.ISO8601FormatStyle(timeSeparator: .omitted, includingFractionalSeconds: true))
      let file = folder.appending(path: try name.fill(values.merging([.utc: time]) { $1 }))
      do { try frame.jpegData().write(to: file, options: .atomic) } catch let error as CocoaError {
        throw LiveKitError(.output, "\(file.path()) cannot be saved: \(error.localizedDescription)")
      }
      next = .now + interval
    }
  }
}
