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

  let room: Room
  let unit: Unit
  let options: RecordingOptions
  private let notifier = EgressNotifier()
  private let bell = Bell()
  private var phase = Phase.waiting
  private var members = GroupMembers()
  private var presence = Presence()
  private var begun: MediaTime?
  private var clock = JobClock()
  private var course = JobCourse()
  private var taker: Taker?

  /// Nothing happens before `start()`.
  /// - Parameter options: of each recorder, whose destinations have the placeholder `{publisher_identity}`, or of single
  ///   tracks `{track_id}`, in the names of files or behind the server of an address; `wait` is for the first one, and
  ///   `ending` is that of the group.
  public init(room: Room, each unit: Unit, options: RecordingOptions) {
    (self.room, self.unit, self.options) = (room, unit, options)
  }

  /// Is given what came of one of the members, and its manifests.
  package typealias Taker = @Sendable (OutputProgress, [Manifest]) async -> Void

  /// - Parameter taker: is called for each member that was recorded, once its destinations have ended and before who
  ///   comes back takes its place; the end of the group waits for that. The group keeps none of the manifests then.
  package func handOver(to taker: @escaping Taker) { self.taker = taker }

  /// Of all its recorders.
  public nonisolated var events: AsyncStream<EgressEvent> { notifier.makeStream() }

  /// Takes no files, which are those of whoever comes.
  public func prepare() async throws(LiveKitError) {
    try Self.check(options, each: unit)
    let probe = Recorder(room: room, options: Self.memberOptions(options, each: unit))
    try await probe.prepare()
    _ = try await probe.finish()
  }

  /// Waits until the first one is being written. Whoever cannot be is told, and others are waited for.
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
    guard !phase.isFinished else { throw .stoppedEarly }
    phase = .running([bell.ring(for: room.events), Task { [weak self] in await self?.look() }])
    let deadline = options.wait.map { MediaTime.now + $0 }
    var told: String?
    while begun == nil {
      let missing = missing
      if told != missing { notifier.tell(.waiting(missing)) }
      told = missing
      let wait = SourceWait(room: room, deadline: Recorder.limit(of: deadline, for: members.flowedAt))
      do throws(LiveKitError) {
        guard phase.isRunning else { throw LiveKitError.stoppedEarly }
        try wait.check(for: "a \(unit) that sends something")
      } catch {
        throw reason(error)
      }
      try? await Task.sleep(for: Self.pace)
    }
  }

  /// What is waited for, also where those who are there are in vain.
  private var missing: String {
    let lack = members.hopelessness(naming: Self.named)
    return lack.map { "another \(unit): \($0.message)" } ?? "a \(unit)"
  }

  /// Why nobody is recorded, and why those who came are not.
  private func reason(_ error: LiveKitError) -> LiveKitError {
    let lack = LiveKitError.joined(members.all.compactMap(\.failure), naming: Self.named)
    return error.ending(lack, isStop: error.code == .cancelled)
  }
  /// How many failures one message has.
  private static let named = 5

  // MARK: Going on

  private static let pace = Duration.milliseconds(200)

  /// Brings the recorders into line with who is in the room, until the group is finished.
  private func look() async {
    while phase.isRunning, !Task.isCancelled {
      if room.connectionState == .connected {
        let present = present
        for (name, one) in present where members.mayBegin(name, with: one.sids, isClash: clash(of: name) != nil) {
          begin(name, one)
        }
        members.note(present, isPaused: clock.isPaused, at: .now)
        // Before the first one came nobody has left.
        if begun != nil {
          presence.note(presence.isEmpty(guests), at: .now, grace: options.emptyTimeout)
        }
      }
      watchRoom()
      if let reason = course.news(of: ending, course.roomLoss) { notifier.tell(.over(reason)) }
      await bell.wait(until: .now + .seconds(1))
    }
  }

  private func watchRoom() { if begun != nil { course.watch(room, endedBy: ending) } }

  private func begin(_ name: String, _ one: Present) {
    let asked = Self.memberOptions(
      options, each: unit, name, participant: one.identity, take: members.takes(of: name) + 1)
    let destinations = places(of: name, one.identity, asked)
    if let clash = clash(of: name) {
      let member = GroupMember(
        name: name, destinations: destinations, course: .over(OutputProgress(), []), sids: one.sids, failure: clash,
        isClash: true)
      members.add(member)
      for status in member.failed { notifier.tell(.destinationChanged(status)) }
      return
    }
    let recorder = Recorder(room: room, options: asked, templates: nil, pausedSince: clock.pausedSince)
    let task: Task<Void, Never> = Task { [weak self] in await self?.run(recorder) }
    members.add(
      GroupMember(name: name, destinations: destinations, course: .running(recorder, task), sids: one.sids))
  }

  /// Why somebody gets no address: it is somebody else's, too, in which a server would see the same one come twice.
  private func clash(of name: String) -> LiveKitError? {
    guard unit == .participant, options.destinations.contains(where: \.destination.isLive) else { return nil }
    let word = FileNameTemplate.word(name)
    guard let other = members.all.first(where: { !$0.isOver && FileNameTemplate.word($0.name) == word }) else {
      return nil
    }
    return LiveKitError(
      .output,
      "\(name) and \(other.name) are both '\(word)' in an address, and it is \(other.name)'s: one needs another identity"
    )
  }

  private func run(_ recorder: Recorder) async {
    let telling = tell(of: recorder)
    await record(recorder)
    let hasFailed = await recorder.failure != nil
    members.change(recorder) { $0.hasFailed = hasFailed }
    // What came of it stands in its progress. Not in this task: its waits would be none where it is cancelled.
    await Task { _ = try? await recorder.finish() }.value
    await complete(recorder, besides: await telling.value)
  }

  /// Returns when it is to be completed.
  private func record(_ recorder: Recorder) async {
    do throws(LiveKitError) {
      try await recorder.start()
      members.change(recorder) { $0.hasBegun = true }
      begun = begun ?? clock.reading(at: .now)
      while !Task.isCancelled, await recorder.ending == nil, await recorder.failure == nil {
        try? await Task.sleep(for: Self.pace)
      }
    } catch {
      // Who has sent nothing when the server closes the room is judged as where somebody leaves.
      let isClosed = begun != nil && room.wasClosed
      members.change(recorder) { member in
        if isClosed { member.passes(at: .now) } else if error.code != .cancelled { member.failure = error }
      }
    }
  }

  /// Tells what came of one of them, and lets go of its recorder.
  /// - Parameter told: the destinations of which it was told that they have failed.
  private func complete(_ recorder: Recorder, besides told: Set<String>) async {
    let (progress, manifests) = (await recorder.progress(), await recorder.manifests)
    let failed = members[recorder]?.failed ?? []
    let ended = progress.destinations.filter(\.hasEnded)
    for status in failed + ended where status.state == .complete || !told.contains(status.location) {
      notifier.tell(.destinationChanged(status))
    }
    if let taker, !manifests.isEmpty { await taker(progress, manifests) }
    let kept = taker == nil ? manifests : []
    members.change(recorder) { $0.course = .over(progress, kept) }
    // Who came back meanwhile waits for that.
    bell.ring()
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
    for member in members.all { await member.recorder?.set(pausedSince: start) }
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
      for member in members.all where member.hasBegun { manifests += await member.manifests }
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
    for member in members.all {
      var progress = await member.progress
      guard !progress.destinations.isEmpty else { continue }
      progress.omissions.removeAll { unit == .track && !$0.wasWanted }
      whole.members.append(progress)
    }
    whole.destinations = whole.members.flatMap(\.destinations)
    whole.omissions = whole.members.flatMap(\.omissions)
    return whole
  }

  public func finish() async throws(LiveKitError) -> OutputProgress {
    let tasks = phase.tasks
    watchRoom()
    phase = .finished(tasks)
    bell.ring()
    for task in tasks { task.cancel() }
    for task in members.end(at: .now) { await task.value }
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
    course.roomLoss ?? members.lack ?? progress.destinations.lazy.compactMap(\.failure).first
  }
}

extension RecorderGroup.Unit: CustomStringConvertible {
  /// `participant` or `track`.
  public var description: String { rawValue }
}
