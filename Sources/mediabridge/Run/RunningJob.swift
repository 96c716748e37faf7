import Egress
import Foundation
import MediaBridge
import MediaCore

/// A job of `run` from its beginning to its end.
final class RunningJob: Sendable {
  private struct State {
    var job: RunJob
    var recording: Recording?
    /// What mixes the room for raw frames.
    var composite: RoomComposite?
    /// Of each destination, as the file gives it.
    var locations: [String] = []
    var isOver = false
    /// Whether it is in no room any more.
    var hasLeft = false
    /// Whether something is missing of what was asked for.
    var hasFailed = false
    var refused = RefusedChanges()
    /// Whether the file asks for it no more.
    var isRemoved = false

    /// What the file still asks for, and could not be done while it ran.
    var lack: LiveKitError? { isRemoved ? nil : refused.lack }
  }

  let room: RunRoom
  let console: Console
  private let interruption = Interruption(signals: [])
  /// Comes when it writes nothing any more.
  private let closing = Interruption(signals: [])
  private let state: Locked<State>

  init(_ job: RunJob, in room: RunRoom, console: Console) {
    (self.room, self.console) = (room, console)
    state = Locked(State(job: job))
  }

  /// As it is asked for now.
  var job: RunJob { state.withLock { $0.job } }
  var isOver: Bool { state.withLock { $0.isOver } }
  /// Whether it is over, and did not do what it was asked to.
  var hasFailed: Bool { state.withLock { $0.isOver && $0.hasFailed } }

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

  /// - Parameters:
  ///   - used: how often a location was written already.
  ///   - media: standard output, where that carries the media of a job.
  /// - Returns: the locations that were written, and whether all that was asked for is there; what is not is told. Whoever
  ///   calls notes them, and that it is `over`.
  func run(_ rooms: RunRooms, besides used: [String: Int], media: Int32?) async -> (written: [String], isWhole: Bool) {
    let (written, failure) = await perform(in: rooms, besides: used, media)
    if let failure { console.fail(failure) }
    let lack = state.withLock { $0.lack }
    if let lack { console.fail(lack) }
    return (written, failure == nil && lack == nil)
  }

  private typealias Outcome = (written: [String], failure: (any Error)?)

  private func perform(in rooms: RunRooms, besides used: [String: Int], _ media: Int32?) async -> Outcome {
    guard !interruption.hasCome else { return ([], nothing(of: job)) }
    let room = await rooms.enter(room, sendsMessages: job.sendsMessages)
    var outcome: Outcome
    switch job.work {
    case .record(let recording): outcome = await record(recording, room, rooms, besides: used)
    case .raw(let command): outcome = await handOn(command, room, rooms, besides: used, media)
    }
    await leave(room, rooms)
    if state.withLock({ $0.isRemoved }), isIdle(outcome.failure) { outcome.failure = nil }
    return outcome
  }

  /// Once: what it has written may still be handed on.
  private func leave(_ room: Room, _ rooms: RunRooms) async {
    if state.set(\.hasLeft, to: true) { await rooms.leave(room) }
  }

  /// Whether it was ended while it waited, with nothing missing that had come.
  private func isIdle(_ failure: (any Error)?) -> Bool {
    guard let code = (failure as? LiveKitError)?.code else { return false }
    return code == .cancelled || job.raw != nil && code == .noMedia
  }

  private func join(_ room: Room, _ rooms: RunRooms) async throws {
    guard !interruption.hasCome else { throw LiveKitError.stoppedEarly }
    try await rooms.join(room)
  }

  // MARK: Recordings

  private func record(
    _ recording: RunRecording, _ room: Room, _ rooms: RunRooms, besides used: [String: Int]
  ) async -> Outcome {
    var outcome: Outcome = ([], nil)
    do {
      let prepared = try recording.prepared(besides: used)
      state.withLock { $0.locations = prepared.options.destinations.map(\.location) }
      let source = recording.arguments.job(in: room, prepared)
      do { try await record(recording.arguments, source, room, prepared, rooms) } catch { outcome.failure = error }
      _ = try? await source.finish()
      if await source.elapsed > .zero { outcome.written = state.withLock { $0.locations } }
    } catch { outcome.failure = error }
    return outcome
  }

  private func record(
    _ arguments: RecordCommand, _ source: any EgressJob, _ room: Room, _ prepared: RecordCommand.Prepared,
    _ rooms: RunRooms
  ) async throws {
    let recording = try await arguments.recording(source, room, prepared.options, console, interruption: interruption) {
      await self.leave(room, rooms)
      self.closing.end()
    }
    state.withLock { $0.recording = recording }
    arguments.tellIdleOptions(console)
    try await join(room, rooms)
    try await recording.run()
  }

  // MARK: Raw media

  private func handOn(
    _ command: any RawCommand, _ room: Room, _ rooms: RunRooms, besides used: [String: Int], _ media: Int32?
  ) async -> Outcome {
    var command = command
    let given = command.raw
    command.raw.advance(past: used)
    let hasJoined = Locked(false)
    // An interruption ends no process in which there are others.
    let visit = RoomVisit(interruption: interruption) { _ in
      try await self.join(room, rooms)
      hasJoined.withLock { $0 = true }
    } leave: {
    }
    do {
      let work = try command.work(in: room, console, try output(of: given, media))
      state.withLock { $0.composite = work.composite }
      try await work.run(visit)
    } catch { return (hasJoined.withLock { $0 } ? given.files : [], error) }
    return (given.files, nil)
  }

  /// - Returns: standard output, for the job that has it.
  private func output(of raw: RawArguments, _ media: Int32?) throws(LiveKitError) -> Int32? {
    guard raw.usesStandardOutput else { return nil }
    guard let media else {
      throw LiveKitError(
        .invalidParameter,
        "standard output carries what is told, since no job had it at first: begin 'run' anew, or give another destination"
      )
    }
    // Whoever writes closes it, and a job that begins anew needs it again.
    let descriptor = fcntl(media, F_DUPFD_CLOEXEC, 10)
    guard descriptor >= 0 else { throw RawDescriptor.failure("standard output") }
    return descriptor
  }

  // MARK: Changes

  /// Whether another job can begin only when this one has ended: they are in a room that changes, or write the same.
  func standsInTheWay(of other: RunJob, _ otherRoom: RunRoom) -> Bool {
    if room.name == otherRoom.name, !room.serves(otherRoom) { return true }
    return !job.places.isDisjoint(with: other.places)
  }

  /// Has it go on as another job where only the list of destinations, or the file of a layout, is another one.
  /// - Parameter used: how often a location was written already.
  /// - Returns: false where it has to begin anew.
  func takeOver(_ other: RunJob, _ used: [String: Int]) async -> Bool {
    let (recording, composite, old) = state.withLock { ($0.recording, $0.composite, $0.job) }
    guard old.isSame(but: other) else { return false }
    if let composite, let layout = other.layout {
      state.withLock { $0.job = other }
      await composite.set(layout: layout)
      return true
    }
    guard let recording, other.recording?.arguments.each == nil, await recording.source.elapsed > .zero,
      let change = DestinationChange(from: old, to: other)
    else { return false }
    state.withLock { $0.job = other }
    if let layout = other.layout, layout != old.layout { _ = await attempt(.layout(layout), .layout, in: recording) }
    let items = await apply(change, to: recording, used.merging(ownTakes, uniquingKeysWith: +))
    // What could not be done is no part of it, so that it is tried again when the file is read again.
    state.withLock { $0.job = other.going(to: items) }
    return true
  }

  /// - Parameter takes: how often a location was written already.
  /// - Returns: where it goes then.
  private func apply(
    _ change: DestinationChange, to recording: Recording, _ takes: [String: Int]
  ) async -> [RunItem] {
    var items = change.after.map(\.item)
    items += await remove(change.changed, from: recording)
    // What comes does so before what goes, so that there is always one.
    for place in change.come {
      let (item, location) = (place.item, place.output.location)
      guard await attempt(.add(place.output.advanced(past: takes)), .add(location), in: recording) == nil else {
        items.removeAll { $0 == item }
        continue
      }
      state.withLock { $0.locations.append(location) }
    }
    items += await remove(change.gone, from: recording)
    return items
  }

  /// - Returns: those that stay.
  private func remove(_ places: [RunJob.Place], from recording: Recording) async -> [RunItem] {
    var staying: [RunItem] = []
    for place in places {
      let location = place.output.location
      let failure = await attempt(.remove(location), .remove(location), in: recording)
      // The last one cannot be removed; any other reason is why what was written is not complete.
      if failure?.code == .invalidState { staying.append(place.item) }
    }
    return staying
  }

  /// How often it has written each location itself.
  var ownTakes: [String: Int] {
    state.withLock { state in state.locations.reduce(into: [:]) { $0[$1, default: 0] += 1 } }
  }

  /// Tells what cannot be done; the job goes on without it.
  /// - Parameter change: what it comes to, by which it is known when the same is done later.
  /// - Returns: why it was not done.
  private func attempt(
    _ request: ControlRequest, _ change: RefusedChanges.Change, in recording: Recording
  ) async -> LiveKitError? {
    do throws(LiveKitError) {
      if let said = try await recording.control.perform(request) { console.say(said) }
      state.withLock { $0.refused.note(change, nil) }
      return nil
    } catch {
      state.withLock { $0.refused.note(change, error) }
      // What has ended by itself was told of then, and is what it is to be.
      if case .remove = request, error.code == .invalidParameter { return nil }
      console.tell(refusalOf: request.name, error)
      return error
    }
  }

  /// Nothing is missing of what the file asks for no more, though it was refused.
  /// - Parameter other: the job as it is asked for now.
  func forgetRefusals(besides other: RunJob) {
    guard let outputs = other.outputs else { return }
    let locations = Set(outputs.map { $0.output.location })
    state.withLock { $0.refused.keep(for: locations) }
  }

  private func nothing(of job: RunJob) -> LiveKitError? {
    state.withLock { $0.isRemoved } ? nil : .stoppedEarly
  }

  /// - Parameter isWhole: whether all that was asked for is there.
  func over(_ isWhole: Bool) {
    state.withLock { state in
      (state.isOver, state.hasFailed) = (true, !isWhole)
      (state.recording, state.composite) = (nil, nil)
    }
    closing.end()
    console.endLive()
  }

  /// Returns when its places are free, though a command may still have to take what is there.
  func untilClosed() async { await closing.wait(atMost: nil) }
}

extension LiveKitError {
  static let stoppedEarly = LiveKitError(.cancelled, "it was stopped before it began")
}
