import ArgumentParser
import Egress
import MediaBridge

/// Many recordings in one process: what Tests/Bench measures.
struct RecordEachCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record-each", abstract: "Record the video of all who are there as it is sent, each into a file.",
    shouldDisplay: false)

  @OptionGroup var access: RoomArguments
  @Argument(help: "Folder for the files, 0.mkv and so on") var folder: String

  func run() async throws {
    let console = access.console()
    let room = Room(roomOptions: access.roomOptions(autoSubscribe: false, receiveValues: [:]))
    do {
      let (url, token, interruption) = (try access.serverURL(), try await access.accessToken(), Interruption())
      try await console.join(url, interruption) {
        try await room.connect(url: url, token: token, connectOptions: access.connectOptions)
      }
      let recordings = Recordings(room: room, folder: folder)
      try await recordings.start()
      while !(await interruption.came(within: .seconds(1))) {
        console.event("progress", try await recordings.figures())
        if let lost = room.disconnectError { throw lost }
      }
      console.event("finished", try await recordings.finish())
      await room.disconnect()
    } catch {
      console.fail(error)
      throw ExitCode.failure
    }
  }
}

/// One recorder for each participant of a room.
private struct Recordings {
  private let recorders: [Recorder]

  init(room: Room, folder: String) {
    let identities = room.remoteParticipants.values.compactMap(\.identity).sorted()
    recorders = identities.enumerated().map { index, identity in
      Recorder(
        room: room,
        options: RecordingOptions(
          file: "\(folder)/\(index).mkv", participant: identity, kinds: [.video], wait: .seconds(60)))
    }
  }

  func start() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for recorder in recorders { group.addTask { try await recorder.start() } }
      try await group.waitForAll()
    }
  }

  /// - Throws: what has broken a recording.
  func figures() async throws -> [String: Any] {
    var tracks: [OutputTrack] = []
    for recorder in recorders {
      if let failure = await recorder.failure { throw failure }
      tracks += await recorder.progress().tracks
    }
    return Self.sum(tracks)
  }

  func finish() async throws -> [String: Any] {
    var tracks: [OutputTrack] = []
    for recorder in recorders { tracks += try await recorder.finish().tracks }
    return Self.sum(tracks)
  }

  private static func sum(_ tracks: [OutputTrack]) -> [String: Any] {
    func sum(_ count: (OutputTrack) -> Int) -> Int { tracks.map(count).reduce(0, +) }
    return [
      "recordings": tracks.count, "frames": sum(\.buffers), "dropped": sum(\.buffersDropped),
      "packets": sum(\.packetsReceived), "lost": sum(\.packetsLost),
    ]
  }
}
