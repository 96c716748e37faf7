public import MediaBridge
import MediaCore
import PipelineTemplates

/// Records each participant of a connected room, or each track, into files of its own, or streams it to addresses of its
/// own; those who come later, too. One that fails fails alone.
public actor RecorderGroup: EgressJob {
  /// What gets files or addresses of its own.
  public enum Unit: String, Sendable, CaseIterable {
    /// Until the participant leaves. Whoever comes back gets another file, or the same address.
    case participant
    /// Until it is published no more.
    case track
  }

  /// With what goes on beside the members.
  private enum Phase {
    case waiting
    case running([Task<Void, Never>])
    case finished([Task<Void, Never>])

    var isRunning: Bool { if case .running = self { true } else { false } }
    var isFinished: Bool { if case .finished = self { true } else { false } }
    var tasks: [Task<Void, Never>] {
      switch self {
      case .waiting: []
      case .running(let tasks), .finished(let tasks): tasks
      }
    }
  }

  private let room: Room
  private let unit: Unit
  private let options: RecordingOptions
  private let notifier = EgressNotifier()
  private let bell = Bell()
  private var phase = Phase.waiting
  private var members: [GroupMember] = []
  private var presence = Presence()
  private var begun: MediaTime?
  private var clock = JobClock()
  private var course = JobCourse()

  /// Nothing happens before `start()`.
  /// - Parameter options: of each recorder, whose destinations have the placeholder `{publisher_identity}`, or of single
  ///   tracks `{track_id}`, in the names of files or behind the server of an address; `wait` is for the first one, and
  ///   `ending` is that of the group.
  public init(room: Room, each unit: Unit, options: RecordingOptions) {
    (self.room, self.unit, self.options) = (room, unit, options)
  }

  /// Of all its recorders.
  public nonisolated var events: AsyncStream<EgressEvent> { notifier.makeStream() }

  /// Takes no files, which are those of whoever comes.
  public func prepare() async throws(LiveKitError) {
    try Self.check(options, each: unit)
    let probe = Recorder(room: room, options: Self.memberOptions(options, each: unit))
    try await probe.prepare()
    _ = try await probe.finish()
  }

  /// Waits until the first one is being written.
  public func start() async throws(LiveKitError) {
    course.start()
    do throws(LiveKitError) {
      try await prepare()
      try await begin()
    } catch {
      course.refusal = error
      _ = try? await finish()
      throw error
    }
  }

  private func begin() async throws(LiveKitError) {
    phase = .running([bell.ring(for: room.events), Task { [weak self] in await self?.look() }])
    let wait = SourceWait(room: room, deadline: options.wait.map { .now + $0 })
    notifier.tell(.waiting("a \(unit)"))
    while begun == nil {
      if !members.isEmpty, members.allSatisfy(\.isOver), let failure = members.lazy.compactMap(\.failure).first {
        throw failure
      }
      try wait.check(for: "a \(unit) that sends something")
      try? await Task.sleep(for: Self.pace)
    }
  }

  // MARK: Going on

  private static let pace = Duration.milliseconds(200)

  /// Brings the recorders into line with who is in the room, until the group is finished.
  private func look() async {
    while phase.isRunning, !Task.isCancelled {
      if room.connectionState == .connected {
        let present = present
        for (name, one) in present where !members.contains(where: { $0.name == name && !$0.isOver }) {
          begin(name, one.identity)
        }
        notePresence(present)
        // Before the first one came nobody has left.
        if begun != nil {
          let isEmpty = room.remoteParticipants.values.allSatisfy { !$0.mayPublish }
          presence.note(isEmpty, at: .now, grace: options.emptyTimeout)
        }
      }
      watchRoom()
      if let reason = course.news(of: ending, course.roomLoss) { notifier.tell(.over(reason)) }
      await bell.wait(until: .now + .seconds(1))
    }
  }

  private func watchRoom() { if begun != nil { course.watch(room, endedBy: ending) } }

  /// Nobody waits for those who have gone.
  private func notePresence(_ present: [String: Present]) {
    for index in members.indices where present[members[index].name] == nil { members[index].hasLeft = true }
    for index in members.indices where !members[index].hasBegun {
      if let one = present[members[index].name] {
        // In a pause nothing is to come.
        let isHeld = one.isMuted || clock.isPaused
        members[index].silentSince = isHeld ? nil : members[index].silentSince ?? .now
      } else {
        members[index].passes(at: .now)
        members[index].task?.cancel()
      }
    }
  }

  /// One who gets files or addresses, or whose track does.
  private struct Present {
    let identity: String
    /// All that is wanted.
    var isMuted: Bool
  }

  /// Who is there of those who get files or addresses, by name.
  private var present: [String: Present] {
    let kinds = options.wantedKinds
    let (identities, names) = (NamePatterns(options.participantPatterns), NamePatterns(options.trackNames))
    return room.remoteParticipants.values.reduce(into: [:]) { present, participant in
      guard let identity = participant.identity, identities.matches(identity) else { return }
      let wanted = participant.trackPublications.values.filter {
        kinds.contains($0.kind) && (options.sources.isEmpty || options.sources.contains($0.source))
          && names.matches($0.name)
      }
      switch unit {
      case .participant:
        if !wanted.isEmpty { present[identity] = Present(identity: identity, isMuted: wanted.allSatisfy(\.isMuted)) }
      case .track:
        for one in wanted { present[one.sid] = Present(identity: identity, isMuted: one.isMuted) }
      }
    }
  }

  private func begin(_ name: String, _ participant: String) {
    let takes = members.count { $0.name == name && $0.hasBegun }
    if let last = members.last(where: { $0.name == name }), !last.mayBeginAnew { return }
    members.removeAll { $0.name == name && !$0.hasBegun && $0.isOver }
    let options = Self.memberOptions(options, each: unit, name, participant: participant, take: takes + 1)
    let recorder = Recorder(room: room, options: options, templates: nil, pausedSince: clock.pausedSince)
    var member = GroupMember(name: name, recorder: recorder, destinations: options.destinations.map(\.destination))
    member.failure = clash(of: name)
    member.isOver = member.failure != nil
    members.append(member)
    guard member.failure == nil else {
      for status in member.failed { notifier.tell(.destinationChanged(status)) }
      return
    }
    change(recorder) { $0.task = Task { [weak self] in await self?.run(recorder) } }
  }

  /// Why somebody gets no address: it is somebody else's, too, in which a server would see the same one come twice.
  private func clash(of name: String) -> LiveKitError? {
    guard unit == .participant, options.destinations.contains(where: \.destination.isLive) else { return nil }
    let word = FileNameTemplate.word(name)
    guard let other = members.first(where: { !$0.isOver && FileNameTemplate.word($0.name) == word }) else { return nil }
    return LiveKitError(
      .output,
      "\(name) and \(other.name) are both '\(word)' in an address, and it is \(other.name)'s: one needs another identity"
    )
  }

  private func run(_ recorder: Recorder) async {
    let telling = tell(of: recorder)
    do throws(LiveKitError) {
      try await recorder.start()
      change(recorder) { $0.hasBegun = true }
      begun = begun ?? clock.reading(at: .now)
      while !Task.isCancelled, await recorder.ending == nil, await recorder.failure == nil {
        try? await Task.sleep(for: Self.pace)
      }
    } catch {
      // Who has sent nothing when the server closes the room is judged as where somebody leaves.
      let isClosed = begun != nil && room.wasClosed
      change(recorder) { member in
        if isClosed { member.passes(at: .now) } else if error.code != .cancelled { member.failure = error }
      }
    }
    let hasFailed = await recorder.failure != nil
    change(recorder) { $0.hasFailed = hasFailed }
    // What came of it stands in its progress. Not in this task: its waits would be none where it is cancelled.
    await Task { _ = try? await recorder.finish() }.value
    let told = await telling.value
    change(recorder) { $0.isOver = true }
    // Who came back meanwhile waits for that.
    bell.ring()
    let failed = members.first { $0.recorder === recorder }?.failed ?? []
    let ended = await recorder.progress().destinations.filter { [.complete, .failed].contains($0.state) }
    for status in failed + ended where status.state == .complete || !told.contains(status.location) {
      notifier.tell(.destinationChanged(status))
    }
  }

  /// Hands on what happens to one of them until it has ended.
  /// - Returns: the destinations of which it was told that they have failed.
  private func tell(of recorder: Recorder) -> Task<Set<String>, Never> {
    Task { [notifier, unit, events = recorder.events] in
      var failed: Set<String> = []
      for await event in events {
        if case .destinationChanged(let status) = event, status.state == .failed { failed.insert(status.location) }
        switch event {
        case .waiting, .over, .ended: continue
        // What is beside a single track has destinations of its own.
        case .omitted(let omission) where unit == .track && !omission.wasWanted: continue
        default: notifier.tell(event)
        }
      }
      return failed
    }
  }

  private func change(_ recorder: Recorder, _ body: (inout GroupMember) -> Void) {
    guard let index = members.firstIndex(where: { $0.recorder === recorder }) else { return }
    body(&members[index])
  }

  // MARK: Changes

  /// - Throws: always: each has the destinations of the beginning.
  public func add(_ destination: OutputDestination) throws(LiveKitError) { throw Self.fixed }
  /// - Throws: always: each has the destinations of the beginning.
  public func remove(_ location: String) throws(LiveKitError) -> DestinationStatus { throw Self.fixed }

  private static var fixed: LiveKitError {
    LiveKitError(.invalidState, "with --each the destinations are those of the beginning")
  }

  /// Also of those who come meanwhile.
  public func pause() async throws(LiveKitError) {
    guard begun != nil, phase.isRunning else {
      throw LiveKitError(.invalidState, "nothing runs that could be paused")
    }
    if let live = options.destinations.first(where: \.destination.isLive) {
      throw LiveKitError(
        .invalidState, "\(live.destination.shown) is live and cannot be paused, nor what is beside it with --each")
    }
    guard clock.pause(at: .now) else { return }
    await setPaused(since: clock.pausedSince)
  }

  public func resume() async throws(LiveKitError) {
    guard begun != nil, phase.isRunning else { throw LiveKitError(.invalidState, "nothing runs that could go on") }
    guard clock.resume(at: .now) else { return }
    await setPaused(since: nil)
  }

  /// What is being completed already is neither paused nor goes on.
  private func setPaused(since start: MediaTime?) async {
    for member in members where !member.isOver { await member.recorder.set(pausedSince: start) }
  }

  // MARK: State

  public var kinds: Set<Track.Kind> { options.wantedKinds }
  /// Of the room. One that fails fails alone.
  public var failure: LiveKitError? { course.roomLoss }
  public var elapsed: Duration { begun.map { clock.reading(at: .now) - $0 } ?? .zero }
  public var ending: RecordingOptions.Ending? {
    if presence.isOver, options.ending == .roomEmpty { return .roomEmpty }
    if begun != nil, room.wasClosed { return .roomEmpty }
    return options.duration.map { elapsed >= $0 } == true ? .durationReached : nil
  }
  public var manifests: [Manifest] {
    get async {
      var manifests: [Manifest] = []
      for member in members where member.hasBegun {
        manifests += await member.recorder.manifests
      }
      return manifests
    }
  }

  public var info: EgressInfo {
    get async {
      let progress = await progress()
      return EgressInfo(
        "each \(unit)", of: room, course, isActive: begun != nil, isEnding: phase.isFinished,
        failure: lack(progress), ending: ending, progress)
    }
  }

  /// How far all of them are, those that have ended among them.
  public func progress() async -> OutputProgress {
    var whole = OutputProgress()
    whole.isPaused = clock.isPaused
    for member in members {
      whole.destinations += member.failed
      guard member.hasBegun else { continue }
      let progress = await member.recorder.progress()
      whole.destinations += progress.destinations
      whole.omissions += progress.omissions.filter { unit == .participant || $0.wasWanted }
    }
    return whole
  }

  public func finish() async throws(LiveKitError) -> OutputProgress {
    let tasks = phase.tasks
    watchRoom()
    phase = .finished(tasks)
    bell.ring()
    for task in tasks { task.cancel() }
    for index in members.indices { members[index].passes(at: .now) }
    let running = members.compactMap(\.task)
    for task in running { task.cancel() }
    for task in running { await task.value }
    for task in tasks { await task.value }
    course.end()
    let info = await info
    notifier.tell(.ended(info))
    notifier.end()
    if let error = lack(info.progress) { throw error }
    return info.progress
  }

  /// Why not all that was asked for is written.
  private func lack(_ progress: OutputProgress) -> LiveKitError? {
    course.roomLoss ?? members.lazy.compactMap(\.failure).first
      ?? progress.destinations.lazy.compactMap(\.failure).first
  }
}

extension RecorderGroup.Unit: CustomStringConvertible {
  /// `participant` or `track`.
  public var description: String { rawValue }
}
