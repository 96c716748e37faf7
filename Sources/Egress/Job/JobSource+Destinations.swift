import Logging
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates

// Where a job goes: destinations that come and go while it runs, and what becomes of those that fail.
extension JobSource {
  func open(_ target: RecordingTarget, in job: Job, for sent: SentMedia) -> RecordedDestination {
    let opened = RecordedDestination(
      opening: target, in: job, for: sent.traits, sent.video, voices: sent.voices,
      isOnly: self.job.targets?.all.count == 1)
    if let plan = opened.plan { tell(plan, of: target) }
    return opened
  }

  /// Says what is encoded and why.
  private func tell(_ plan: OutputPlan, of target: RecordingTarget) {
    for (kind, feed) in plan.feeds.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      loggers.output.debug(
        "what an output is fed", metadata: ["output": "\(plan.template)", "\(kind)": "\(feed)"])
    }
    for (template, variables) in plan.forced { tell(.encodedAnew(template: "\(template)", variables: variables)) }
    for (template, other) in plan.replaced { warn(template, replacedBy: other, of: target) }
  }

  /// What takes its place may look worse. Once in the life of the process: each file of a group would say so.
  private func warn(_ template: TemplateName, replacedBy other: TemplateName, of target: RecordingTarget) {
    guard replacedTemplates.withLock({ $0.insert(template).inserted }) else { return }
    let reason = target.planner.lack(of: template, factory: target.factory)?.message ?? "it lacks an element"
    loggers.output.warning(
      "an encode template gives way to another one",
      metadata: ["template": "\(template)", "other": "\(other)", "reason": "\(reason)"])
  }

  // MARK: Coming and going

  /// Adds a destination, which begins at the next keyframe, and its time at zero.
  /// - Parameters:
  ///   - idle: kinds that the source could have and does not make, which this one must not need.
  ///   - know: notes what is known for its file's name.
  /// - Returns: the kinds that it takes.
  /// - Throws: what cannot be, with its name; the job goes on without it.
  func join(
    _ destination: OutputDestination, for sent: SentMedia, without idle: Set<Track.Kind> = [],
    know: (inout RecordingTargets) -> Void
  ) throws(LiveKitError) -> Set<Track.Kind> {
    guard job.isTold, let run, var targets = job.targets else {
      throw LiveKitError(.invalidState, "\(destination.destination.shown): nothing runs that it could be added to")
    }
    for ended in run.endedAddresses { targets.remove(ended) }
    know(&targets)
    let target = try targets.add(destination, asked, folder: room.options.pipelineFolder, loggers: loggers)
    let added: RecordedDestination
    do throws(LiveKitError) {
      try check(target, without: idle)
      added = open(target, in: run.job, for: sent)
      if let refusal = added.refusal { throw refusal }
    } catch {
      target.release()
      throw error
    }
    job.targets = targets
    job.run?.destinations.append(added)
    tellDestinations()
    feed()
    return target.planner.kinds
  }

  private func check(_ target: RecordingTarget, without idle: Set<Track.Kind>) throws(LiveKitError) {
    if target.destination.isLive, run?.job.media.isPaused == true {
      throw LiveKitError(
        .invalidState, "\(target.destination.shown): a live server cannot be added during a pause; go on first")
    }
    guard let kind = target.planner.kinds.intersection(idle).first else { return }
    throw LiveKitError(
      .invalidParameter,
      "\(target.destination.shown): it is to have \(kind), which is not made since no destination had it at the beginning"
    )
  }

  /// Ends one of several destinations while the others go on.
  /// - Parameter location: as it was named, or as its status says.
  /// - Returns: its index.
  func part(from location: String) async throws(LiveKitError) -> Int {
    let (index, output) = try find(location)
    let ending = Task { [weak self, job = run?.job] in
      if let job { await output.pass(job.media) }
      await self?.leave(output)?.value
    }
    job.run?.destinations[index].ending = ending
    await ending.value
    job.targets?.remove(output.destination)
    return index
  }

  /// - Throws: why a destination that has ended is not complete.
  func ended(_ index: Int) throws(LiveKitError) -> DestinationStatus {
    let status = figures.destinations[index]
    if let failure = status.failure { throw failure }
    return status
  }

  private func find(_ location: String) throws(LiveKitError) -> (Int, JobDestination) {
    let destinations = run?.destinations ?? []
    let open = destinations.filter(\.isOpen).map(\.target.destination)
    guard
      let index = destinations.firstIndex(where: { $0.isOpen && $0.target.isCalled(location) }),
      let output = destinations[index].output
    else { throw notOpen(location, besides: open) }
    guard open.count > 1 else {
      throw LiveKitError(.invalidState, "\(open[0].shown) is the last destination; end the recording instead")
    }
    return (index, output)
  }

  /// Why what is called so cannot be ended.
  private func notOpen(_ location: String, besides open: [Destination]) -> LiveKitError {
    let waiting = job.isTold || job.isFinished ? [] : job.targets?.all ?? []
    if let target = waiting.first(where: { $0.isCalled(location) }) {
      return LiveKitError(
        .invalidState, "\(target.destination.shown) has not begun; remove it once it has, or end the recording")
    }
    let there = open.map(\.shown).joined(separator: ", ")
    let shown = Destination(location: location).shown
    return LiveKitError(
      .invalidParameter, "nothing is written to \(shown)\(there.isEmpty ? "" : "; there is \(there)")")
  }

  private func leave(_ output: JobDestination) -> Task<Void, Never>? {
    defer { feed() }
    return run?.job.end(output)
  }

  // MARK: Pauses

  /// A live server would take nothing for a loss, so there must be none.
  public func pause() throws(LiveKitError) {
    guard job.isTold, let run else { throw LiveKitError(.invalidState, "nothing runs that could be paused") }
    if let live = run.destinations.first(where: { $0.isOpen && $0.target.destination.isLive })?.target.destination {
      throw LiveKitError(
        .invalidState, "\(live.shown) is live and cannot be paused; remove it first, and add it again afterwards")
    }
    set(pausedSince: .now)
  }

  public func resume() throws(LiveKitError) {
    guard job.isTold, run != nil else { throw LiveKitError(.invalidState, "nothing runs that could go on") }
    set(pausedSince: nil)
  }

  /// Also of one that may not have begun yet: nothing of it is written before it goes on.
  /// - Parameter start: of the pause; nil where it goes on.
  func set(pausedSince start: MediaTime?) {
    job.pausedSince = start
    guard let media = run?.job.media else { return }
    let isNews = start.map { media.pause(at: $0) } ?? media.resume(at: .now)
    if isNews, job.isTold { tell(start == nil ? .resumed(at: jobAge) : .paused(at: jobAge)) }
  }

  // MARK: What becomes of them

  /// Completes what was written of those that cannot go on.
  func endWhatFailed() {
    if job.run?.endWhatFailed() == true { feed() }
  }

  /// Says how each destination is where that has changed.
  func tellDestinations() {
    guard job.isTold, let run else { return }
    for output in run.outputs where output.lines.takeSizeNews() {
      tell(.sizeChanged(location: output.writer.stage.destination.shown, at: jobAge))
    }
    guard run.hasNews else { return }
    let figures = figures
    for status in job.run?.changes(figures) ?? [] { tell(.destinationChanged(status)) }
  }

  /// Notes what is left out, and tells of it where that is news.
  func note(_ omission: Omission) { if omissions.note(omission) { tell(.omitted(omission)) } }
}

/// Those of which that was told.
private let replacedTemplates = Locked(Set<TemplateName>())

/// What is known of a source's tracks when a destination begins.
struct SentMedia: Sendable {
  /// Of the kinds that are wanted.
  var traits: [Track.Kind: TrackTraits]
  /// Without a codec while nothing comes.
  var video: Job.Video
  /// Those that have a track of their own.
  var voices: [Voice] = []

  /// Whether it is made of frames and PCM here.
  var isMixed: Bool { traits.values.contains(where: \.isMixed) }

  /// - Parameters:
  ///   - kinds: that are wanted.
  ///   - flowing: the video; nil while nothing comes of it.
  ///   - size: as it was published.
  init(_ kinds: Set<Track.Kind>, _ flowing: IncomingMedia?, _ size: Dimensions?) {
    video = Job.Video(codec: flowing?.codec, size: size)
    traits = kinds.reduce(into: [:]) {
      $0[$1] = $1 == .video ? TrackTraits(flowing) : TrackTraits(codec: "opus")
    }
  }

  /// Of what is mixed, which has no codec.
  init(mixed options: CompositeOptions, _ voices: [Voice]) {
    self.voices = voices
    video = Job.Video(mixed: options)
    traits = options.kinds.reduce(into: [:]) { $0[$1] = TrackTraits(codec: nil, isMixed: true) }
  }
}
