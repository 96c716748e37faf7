import BridgeTesting
import Egress
import MediaBridge
import Testing

/// A job that is finished while it waits for somebody.
@Suite struct EarlyEndTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

  private func recorder(in room: Room, _ kinds: Set<Track.Kind> = [.video, .audio]) -> Recorder {
    Recorder(room: room, options: RecordingOptions(file: path("a.mkv"), participant: "alice", kinds: kinds))
  }

  private func group(in room: Room, _ kinds: Set<Track.Kind> = [.video, .audio]) -> RecorderGroup {
    let options = RecordingOptions(file: path("{publisher_identity}.mkv"), kinds: kinds)
    return RecorderGroup(room: room, each: .participant, options: options)
  }

  /// - Returns: why it has not begun, once its start has ended.
  private func start(_ job: any EgressJob) -> Collector<LiveKitError> {
    let failures = Collector<LiveKitError>()
    Task { do throws(LiveKitError) { try await job.start() } catch { failures.add(error) } }
    return failures
  }

  private func finish(_ job: any EgressJob, _ failures: Collector<LiveKitError>) async throws {
    _ = try await job.finish()
    try await eventually("the end of its start") { failures.count > 0 }
    #expect(failures.values.map(\.code) == [.cancelled])
    let info = await job.info
    #expect(info.status == .aborted)
  }

  /// Nothing that happens in the room would wake it.
  @Test func itsStartEndsBeforeAnybodyComes() async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false), codecs: [:]) { watcher in
      let room = watcher.room
      let composite = RoomComposite(room: room, options: CompositeOptions(file: path("b.mkv")))
      let jobs: [any EgressJob] = [recorder(in: room), group(in: room), composite]
      for job in jobs {
        let told = Collector<String>(job.events) { if case .waiting(let missing) = $0 { missing } else { nil } }
        let failures = start(job)
        try await eventually("that it waits") { told.count > 0 }
        try await finish(job, failures)
      }
    }
  }

  /// What is given back is news of the room, which wakes whoever looks for somebody.
  @Test func nothingIsSubscribedToAfterwards() async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false)) { watcher in
      let camera = try await eventually("the camera") {
        watcher.room.remoteParticipants["alice"]?.videoTracks.first
      }
      try await watcher.synthetic.publishers["alice"]?.localParticipant.localVideoTracks.first?.mute()
      try await eventually("its mute") { camera.isMuted }
      let jobs: [any EgressJob] = [recorder(in: watcher.room, [.video]), group(in: watcher.room, [.video])]
      for job in jobs {
        let failures = start(job)
        try await eventually("its subscription") { camera.isSubscribed }
        try await finish(job, failures)
        try await eventually("the end of its subscription") { !camera.isSubscribed }
      }
    }
  }

  @Test func whoIsFinishedBeforeDoesNotBegin() async throws {
    let group = group(in: Room())
    _ = try await group.finish()
    let error = await #expect(throws: LiveKitError.self) { try await group.start() }
    #expect(error?.code == .cancelled)
  }
}
