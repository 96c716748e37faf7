import Logging
import MediaBridge
import MediaCore
import PipelineTemplates

// Where the recording goes: what is fed to each destination, and what becomes of those that fail.
extension Recorder {
  /// Opens all destinations for what was found; one that cannot be opened fails alone.
  /// - Throws: why none can be.
  func open(_ found: RecordingSearch.Found) throws(LiveKitError) -> RecordingRun {
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
    if let plan = try? target.planner.plan(sent.traits) { tell(plan) }
    return RecordedDestination(
      opening: target, in: job, for: sent.traits, sent.video, isOnly: targets?.all.count == 1)
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
      guard !idle.isEmpty, let plan = try? destination.target.planner.plan(sent.traits) else { return idle }
      return idle.intersection(destination.target.idle(values, plan, sent.traits))
    }
    if !idle.isEmpty { onUpdate(.withoutEffect(variables: idle.sorted())) }
  }

  // MARK: What becomes of them

  /// Completes what was written of those that cannot go on.
  func endWhatFailed() {
    let ended = try? change { run throws(LiveKitError) in run.endWhatFailed() }
    if ended == true { feedInputs() }
  }

  /// Has what arrives taken in the forms that are wanted now.
  private func feedInputs() {
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

  init(_ found: RecordingSearch.Found) {
    let published = found.publications.first { $0.kind == .video }
    let flowing = published.flatMap { found.isFlowing($0) ? $0.media : nil }
    video = Job.Video(codec: flowing?.codec, size: published?.dimensions)
    traits = found.kinds.reduce(into: [:]) {
      $0[$1] = $1 == .video ? TrackTraits(flowing) : TrackTraits(codec: "opus")
    }
  }
}
