import Logging
public import MediaBridge
import MediaCore
import PipelineTemplates

// Where the recording goes: what is fed to each destination, and what becomes of those that fail.
extension Recorder {
  /// Opens all destinations for what was found; one that cannot be opened fails alone.
  /// - Throws: why none can be.
  func open(_ found: RecordingSearch.Found) throws(LiveKitError) -> RecordingRun {
    targets?.know(room, found.participant, found.publications)
    try prepare()
    let all = targets?.all ?? []
    let sent = SentMedia(found)
    let source = Locked<IncomingMedia?>(nil)
    let job = Job(
      beginsWithVideo: sent.video.codec != nil && all.contains { $0.planner.kinds.contains(.video) },
      onKeyframeNeeded: { source.withLock { $0 }?.requestKeyframe() }, onChange: { [bell] in bell.ring() })
    let run = RecordingRun(job: job, destinations: all.map { open($0, in: job, for: sent) }, video: source)
    if run.outputs.isEmpty, let lack = run.lack { throw lack }
    tellIdleValues(run, sent)
    return run
  }

  private func open(_ target: RecordingTarget, in job: Job, for sent: SentMedia) -> RecordedDestination {
    let opened = RecordedDestination(
      opening: target, in: job, for: sent.traits, sent.video, isOnly: targets?.all.count == 1)
    if let plan = opened.plan { tell(plan) }
    return opened
  }

  /// Says what is encoded and why.
  private func tell(_ plan: OutputPlan) {
    for (kind, feed) in plan.feeds.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      loggers.output.debug(
        "what an output is fed", metadata: ["output": "\(plan.template)", "\(kind)": "\(feed)"])
    }
    for (template, variables) in plan.forced {
      onUpdate(.encodedAnew(template: "\(template)", variables: variables))
    }
  }

  /// Says which values for receive templates change nothing in any destination.
  private func tellIdleValues(_ run: RecordingRun, _ sent: SentMedia) {
    let values = room.options.receiveValues
    let idle = run.destinations.reduce(Set(values.keys)) { idle, destination in
      guard !idle.isEmpty, let plan = destination.plan else { return idle }
      return idle.intersection(destination.target.idle(values, plan, sent.traits))
    }
    if !idle.isEmpty { onUpdate(.withoutEffect(variables: idle.sorted())) }
  }

  // MARK: Coming and going

  /// Adds a destination to a recording that runs. It begins at the next keyframe, which is asked for, and its time at
  /// zero; `OutputProgress` and `Update.destinationChanged` tell of it. What it needs and no other did is subscribed to.
  /// - Throws: what cannot be, with its name; the recording goes on without it.
  public func add(_ destination: OutputDestination) async throws(LiveKitError) {
    let camera = tracks.inputs[.video]
    let isFlowing = await camera?.media.reception().isFlowing == true
    guard case .running(let run) = state, var targets else {
      throw LiveKitError(.invalidState, "\(destination.destination.shown): no recording runs that it could be added to")
    }
    targets.know(room, tracks.identity.flatMap { room.remoteParticipants[$0] }, Array(tracks.taken.values))
    let target = try targets.add(destination, asked, folder: room.options.pipelineFolder, loggers: loggers)
    let sent = SentMedia(
      asked.trackSids.isEmpty ? asked.wantedKinds : Set(tracks.taken.keys), isFlowing ? camera : nil)
    let added = open(target, in: run.job, for: sent)
    if let refusal = added.refusal {
      target.release()
      throw refusal
    }
    self.targets = targets
    _ = try change { run throws(LiveKitError) in run.destinations.append(added) }
    tracks.choice.take(target.planner.kinds.intersection(asked.kinds))
    feedInputs()
    if let participant = tracks.identity.flatMap({ room.remoteParticipants[$0] }) { await consider(participant) }
  }

  /// Ends one of several destinations while the others go on: it is completed and closed, and holds what came until now.
  /// - Parameter location: as it was named, or as its status says.
  /// - Returns: how it is.
  /// - Throws: there is no such destination, it is the last one, or why it is not complete.
  @discardableResult
  public func remove(_ location: String) async throws(LiveKitError) -> DestinationStatus {
    let (index, output) = try find(location)
    let ending = Task { [weak self, job = run?.job] in
      if let job { await output.pass(job.media) }
      await self?.leave(output)?.value
    }
    _ = try change { run throws(LiveKitError) in run.destinations[index].ending = ending }
    await ending.value
    targets?.remove(output.destination)
    await giveBackWhatNobodyHas()
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
    else {
      let names = open.map(\.shown).joined(separator: ", ")
      throw LiveKitError(
        .invalidParameter, "nothing is written to \(Destination(location: location).shown); there is \(names)")
    }
    guard open.count > 1 else {
      throw LiveKitError(.invalidState, "\(open[0].shown) is the last destination; end the recording instead")
    }
    return (index, output)
  }

  private func leave(_ output: JobDestination) -> Task<Void, Never>? {
    defer { feedInputs() }
    return run?.job.end(output)
  }

  /// Tracks of a kind that no destination has any more.
  private func giveBackWhatNobodyHas() async {
    guard case .running(let run) = state else { return }
    for kind in tracks.taken.keys where !run.has(kind) {
      remove(kind)
      tracks.taken[kind] = nil
    }
    await subscriptions.keep(only: Array(tracks.taken.values))
  }

  // MARK: What becomes of them

  /// Completes what was written of those that cannot go on.
  func endWhatFailed() {
    let ended = try? change { run throws(LiveKitError) in run.endWhatFailed() }
    if ended == true { feedInputs() }
  }

  /// Has what arrives taken in the forms that are wanted now.
  private func feedInputs() {
    if case .finished = state { return }
    guard let job = run?.job else { return }
    for kind in tracks.inputs.keys {
      do throws(LiveKitError) { try tracks.inputs[kind]?.feed(job) } catch {
        tracks.inputs[kind]?.failure.withLock { $0 = error }
      }
    }
  }

  /// Says how each destination is where that has changed.
  func tellDestinations() {
    guard isTold else { return }
    let figures = figures
    let changed = try? change { run throws(LiveKitError) in run.changes(figures) }
    for status in changed ?? [] { onUpdate(.destinationChanged(status)) }
  }
}

/// What is known of a participant's tracks when a destination begins.
private struct SentMedia {
  /// Of the kinds that are wanted.
  var traits: [Track.Kind: TrackTraits]
  /// Without a codec while nothing comes.
  var video: Job.Video

  /// - Parameters:
  ///   - kinds: that are wanted.
  ///   - camera: nil while nothing comes.
  init(_ kinds: Set<Track.Kind>, _ camera: RecordedTracks.Input?) {
    self.init(kinds, camera?.media, camera?.publication.dimensions)
  }

  init(_ found: RecordingSearch.Found) {
    let published = found.publications.first { $0.kind == .video }
    let flowing = published.flatMap { found.isFlowing($0) ? $0.media : nil }
    self.init(found.kinds, flowing, published?.dimensions)
  }

  private init(_ kinds: Set<Track.Kind>, _ flowing: IncomingMedia?, _ size: Dimensions?) {
    video = Job.Video(codec: flowing?.codec, size: size)
    traits = kinds.reduce(into: [:]) {
      $0[$1] = $1 == .video ? TrackTraits(flowing) : TrackTraits(codec: "opus")
    }
  }
}
