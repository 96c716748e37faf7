import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates

/// Sees that templates have changed which a job's destinations are made of.
struct TemplateWatch: Sendable {
  private var watch = FileWatch(heedsAbsence: true)
  /// Destinations that could not be looked after when a file changed, by their index.
  private var waiting: Set<Int> = []

  /// - Parameters:
  ///   - open: the indices of the destinations that media goes to.
  ///   - isReady: whether a changed template may take over in one of those now.
  ///   - files: those that templates may stand in.
  /// - Returns: which to look at.
  mutating func due(_ open: [Int], _ isReady: (Int) -> Bool, _ files: () -> [String]) -> [Int] {
    if watch.hasChanged(files) { waiting = Set(open) }
    let due = waiting.intersection(open).filter(isReady)
    waiting = waiting.intersection(open).subtracting(due)
    return due.sorted()
  }

  /// Has one looked at again that could not be looked after yet.
  mutating func wait(for index: Int) { waiting.insert(index) }
}

// Templates that change while a job runs.
extension JobSource {
  /// Has destinations go on with templates that have changed, and tells what becomes of it.
  func followTemplates() {
    guard job.isTold, !job.isFinished, let run else { return }
    settleReloads()
    renewReceivers()
    run.job.retireLines()
    let destinations = run.destinations
    let open = destinations.indices.filter { destinations[$0].isOpen }
    let isReady = { destinations[$0].output?.mayRenew(run.job.media) == true }
    let due = job.templates.due(open, isReady) { open.flatMap { destinations[$0].templateFiles } }
    guard !due.isEmpty else { return }
    let sent = flowing
    tellRefusals(due) { index throws(LiveKitError) in
      if try !destinations[index].reload(for: sent, in: run.job) { self.job.templates.wait(for: index) }
    }
    run.job.begin(renewalsOf: due.compactMap { destinations[$0].output })
    feed()
  }

  func renewSource() {}

  // MARK: Receive templates

  private func renewReceivers() {
    let incoming = incoming
    guard job.receiveTemplates.hasChanged({ incoming.templateFiles }) else { return }
    for kind in [Track.Kind.video, .audio] {
      let media = incoming.filter { $0.isVideo == (kind == .video) }
      job.run?.tasks.append(
        Task { [weak self] in
          for await result in media.renewals { await self?.note(result, kind) }
        })
    }
  }

  private func note(_ renewal: Result<TemplateName, LiveKitError>, _ kind: Track.Kind) {
    switch renewal {
    case .success(let name): noteReload(by: [name], kind)
    case .failure(let error): refuseReload(error, kind)
    }
  }

  /// Notes with every destination of a kind that what it gets is made by other templates from now on.
  func noteReload(by templates: [TemplateName], _ kind: Track.Kind) {
    guard let run else { return }
    let reload = TemplateReload(
      location: request, templates: templates.map(\.description), part: nil, start: run.job.media.length)
    for index in run.destinations.indices where run.destinations[index].takes(kind) {
      var reload = reload
      reload.location = run.destinations[index].target.destination.shown
      job.run?.destinations[index].reloads.append(reload)
      tell(.reloaded(reload))
    }
    if run.destinations.isEmpty { tell(.reloaded(reload)) }
  }

  /// Tells every destination of a kind what is wrong with a template of what it gets.
  func refuseReload(_ error: LiveKitError, _ kind: Track.Kind) {
    let locations = (run?.destinations ?? []).filter { $0.takes(kind) }.map(\.target.destination.shown)
    tell(.reloadRefused(error, locations: locations.isEmpty ? [request] : locations))
  }

  // MARK: Templates of destinations

  private func settleReloads() {
    guard let run else { return }
    var changed = false
    tellRefusals(Array(run.destinations.indices)) { index throws(LiveKitError) in
      guard let reload = try self.job.run?.destinations[index].settle(run.job.media, flowing) else { return }
      changed = true
      tell(.reloaded(reload))
    }
    if changed { feed() }
  }

  /// The same mistake is told once, with all whom it is about.
  private func tellRefusals(_ indices: [Int], _ body: (Int) throws(LiveKitError) -> Void) {
    var refusals: [(error: LiveKitError, locations: [String])] = []
    for index in indices {
      do throws(LiveKitError) { try body(index) } catch {
        let location = run?.destinations[index].target.destination.shown ?? ""
        if let known = refusals.firstIndex(where: { $0.error.message == error.message }) {
          refusals[known].locations.append(location)
        } else {
          refusals.append((error, [location]))
        }
      }
    }
    for refusal in refusals { tell(.reloadRefused(refusal.error, locations: refusal.locations)) }
  }
}

extension RecordedDestination {
  fileprivate func takes(_ kind: Track.Kind) -> Bool { isOpen && target.planner.kinds.contains(kind) }

  /// Where templates may stand that it is made of.
  fileprivate var templateFiles: [String] {
    guard let output else { return [] }
    return output.templates.flatMap { output.factory.store.paths(of: $0.kind, $0.name) }
  }

  /// Has it go on with templates that have changed; one that makes the same as before changes nothing.
  /// - Returns: false where that is to be tried again.
  /// - Throws: what is wrong with one, by file and line; it goes on as it was.
  fileprivate func reload(for sent: SentMedia, in job: Job) throws(LiveKitError) -> Bool {
    guard let output else { return true }
    let changed = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try output.factory.changed(output.templates, values: target.destination.values)
    }
    guard !changed.isEmpty else { return true }
    var planner = try OutputPlanner(target.destination, encode: target.encode, factory: output.factory)
    planner.wantsCaptions = target.planner.wantsCaptions
    let plan = try planner.plan(sent.traits, voices: sent.voices)
    guard !plan.feeds.isEmpty else {
      throw LiveKitError(
        .template, "\(planner.read.output.file): \(planner.template) takes nothing of what is sent")
    }
    return try job.renew(output, JobDestination.Setup(planner: planner, plan: plan), changed, sent.video)
  }

  /// Notes what became of it.
  /// - Returns: with what it goes on; nil while nothing is new.
  fileprivate mutating func settle(_ media: JobMedia, _ sent: SentMedia) throws(LiveKitError) -> TemplateReload? {
    guard let output, let (renewal, start) = try output.settleRenewal(media) else { return nil }
    if !output.isRaw(.video) { heldCodec = sent.video.codec ?? heldCodec }
    let reload = TemplateReload(
      location: target.destination.shown, templates: renewal.templates.map(\.description), part: renewal.part?.shown,
      start: start)
    reloads.append(reload)
    return reload
  }
}

extension PipelineFactory {
  /// Those of which a changed template is there now, which can be built.
  /// - Throws: what is wrong with one, by file and line.
  func changed(_ templates: [Template], values: [String: String]) throws(PipelineFailure) -> [TemplateName] {
    var changed: [TemplateName] = []
    for known in templates {
      let now = try fill(template(known.kind, known.name), values: values)
      guard try !now.isSame(as: fill(known, values: values)) else { continue }
      // A pipeline that is built and not run shows what its elements refuse.
      _ = try make(now)
      changed.append(TemplateName(known.kind, known.name))
    }
    return changed
  }
}
