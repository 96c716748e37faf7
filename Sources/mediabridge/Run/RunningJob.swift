import Egress
import MediaBridge
import MediaCore

/// A job of `run` from its beginning to its end.
final class RunningJob: Sendable {
  private struct State {
    var job: RunJob
    var recording: Recording?
    /// Where each destination of the file is really written.
    var places: [(given: OutputDestination, location: String)] = []
    var isOver = false
    /// What of a change could not be done.
    var refusal: LiveKitError?
    /// Whether the file asks for it no more.
    var isRemoved = false
  }

  let room: RunRoom
  let console: Console
  private let interruption = Interruption(signals: [])
  private let state: Locked<State>

  init(_ job: RunJob, in room: RunRoom, console: Console) {
    (self.room, self.console) = (room, console)
    state = Locked(State(job: job))
  }

  /// As it is asked for now.
  var job: RunJob { state.withLock { $0.job } }
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Completes what it writes.
  /// - Parameter isRemoved: since the file says so.
  func end(isRemoved: Bool) {
    let recording = state.withLock { state in
      state.isRemoved = isRemoved
      return state.recording
    }
    if isRemoved { recording?.control.isEnding.withLock { $0 = true } }
    interruption.end()
  }

  /// - Parameter used: how often a location was written already.
  /// - Returns: the locations that were written, and whether all that was asked for is there; what is not is told.
  func run(_ rooms: RunRooms, besides used: [String: Int]) async -> (written: [String], isWhole: Bool) {
    let (written, failure) = await record(in: rooms, besides: used)
    if let failure { console.fail(failure) }
    return (written, failure == nil && state.withLock { $0.refusal } == nil)
  }

  private func record(
    in rooms: RunRooms, besides used: [String: Int]
  ) async -> (written: [String], failure: (any Error)?) {
    defer { over() }
    guard !interruption.hasCome else { return ([], nothing(of: job)) }
    let room = await rooms.enter(room)
    let job = job
    var written: [String] = []
    var failure: (any Error)?
    do {
      let prepared = try job.prepared(besides: used)
      let given = try job.prepared().options.destinations
      state.withLock { $0.places = zip(given, prepared.options.destinations).map { ($0, $1.location) } }
      let source = job.recording.job(in: room, prepared)
      do { try await record(source, room, prepared, rooms) } catch { failure = error }
      _ = try? await source.finish()
      if await source.elapsed > .zero { written = state.withLock { $0.places.map(\.given.location) } }
    } catch { failure = error }
    await rooms.leave(room)
    let isRemoved = state.withLock { $0.isRemoved }
    if isRemoved, (failure as? LiveKitError)?.code == .cancelled { failure = nil }
    return (written, failure)
  }

  private func record(
    _ source: any EgressJob, _ room: Room, _ prepared: RecordingArguments.Prepared, _ rooms: RunRooms
  ) async throws {
    let recording = try await job.recording.recording(
      source, room, prepared.options, console, interruption: interruption)
    state.withLock { $0.recording = recording }
    try await rooms.join(room)
    if !job.recording.isComposite { job.recording.tellIdlePreset(console) }
    try await recording.run()
  }

  // MARK: Changes

  /// Whether another job can begin only when this one has ended: they are in a room that changes, or write the same.
  func standsInTheWay(of other: RunJob, _ otherRoom: RunRoom) -> Bool {
    if room.name == otherRoom.name, !room.isSame(as: otherRoom) { return true }
    return !Set(job.recording.destination).isDisjoint(with: other.recording.destination)
  }

  /// Has it go on as another job where only the list of destinations is another one.
  /// - Parameter used: how often a location was written already.
  /// - Returns: false where it has to begin anew.
  func takeOver(_ other: RunJob, _ used: [String: Int]) async -> Bool {
    let (recording, old) = state.withLock { ($0.recording, $0.job) }
    guard let recording, old.isSame(but: other), other.recording.each == nil, await recording.source.elapsed > .zero,
      let before = try? old.prepared().options.destinations, let prepared = try? other.prepared(besides: used),
      let after = try? other.prepared().options.destinations
    else { return false }
    state.withLock { $0.job = other }
    if let layout = other.recording.composite.layout, layout != old.recording.composite.layout {
      await attempt { () async throws(LiveKitError) in _ = try await recording.control.perform(.layout(layout)) }
    }
    // What comes does so before what goes, so that there is always one.
    for (given, output) in zip(after, prepared.options.destinations) where !before.contains(given) {
      await attempt { () async throws(LiveKitError) in
        if let said = try await recording.control.perform(.add(output)) { console.say(said) }
        state.withLock { $0.places.append((given, output.location)) }
      }
    }
    for given in before where !after.contains(given) {
      await attempt { () async throws(LiveKitError) in
        let location = state.withLock { $0.places.last { $0.given == given }?.location } ?? given.location
        if let said = try await recording.control.perform(.remove(location)) { console.say(said) }
      }
    }
    return true
  }

  private func attempt(_ change: () async throws(LiveKitError) -> Void) async {
    do throws(LiveKitError) { try await change() } catch {
      state.withLock { $0.refusal = $0.refusal ?? error }
      console.fail(error)
    }
  }

  private func nothing(of job: RunJob) -> LiveKitError? {
    state.withLock { $0.isRemoved } ? nil : LiveKitError(.cancelled, "it was stopped before it began")
  }

  private func over() {
    state.withLock { ($0.isOver, $0.recording) = (true, nil) }
    console.endLive()
  }
}
