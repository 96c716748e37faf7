import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates

/// Sees that texts have become others which a job's destinations are made of.
struct TextWatch: Sendable {
  private var watch = FileWatch(heedsAbsence: true)
  /// Destinations that could not be looked after when a file changed, by their index.
  private var waiting: Set<Int> = []

  /// - Parameters:
  ///   - open: the indices of the destinations that media goes to.
  ///   - isReady: whether another text may take over in one of those now.
  ///   - files: those that texts may stand in.
  /// - Returns: which to look at.
  mutating func due(_ open: [Int], _ isReady: (Int) -> Bool, _ files: () -> [String]) -> [Int] {
    if watch.hasChanged(files) { waiting = Set(open) }
    let due = waiting.intersection(open).filter(isReady)
    waiting = waiting.intersection(open).subtracting(due)
    return due.sorted()
  }
}

/// Sees that texts have changed which are not taken over while a job runs.
struct FixedTextWatch: Sendable {
  private static let kinds: [TemplateKind] = [.receive, .process]
  private let texts: [String: TemplateKind]
  private var watch: FileWatch

  init(_ store: TemplateStore) {
    let entries = (try? store.list(Self.kinds).entries) ?? []
    let places = entries.filter { $0.shadowedBy == nil }.flatMap { entry in
      store.paths(of: entry.kind, entry.name).map { ($0, entry.kind) }
    }
    texts = Dictionary(places) { first, _ in first }
    // There are many of them, and nothing hurries.
    watch = FileWatch(Array(texts.keys), heedsAbsence: true, pace: .seconds(3))
  }

  /// For each that has changed, what is to be said of it.
  mutating func due() -> [LiveKitError] {
    watch.changes { [texts] in Array(texts.keys) }.map { file in
      let kind = texts[file]?.rawValue ?? ""
      return LiveKitError(.template, "\(file): texts of \(kind)/ are read when a track or a job begins")
    }
  }
}

// Templates that change while a job runs.
extension JobSource {
  /// Has destinations go on with texts that have changed, and tells what becomes of it.
  func heedTexts() {
    guard job.isTold, !job.isFinished, let run else { return }
    settleReloads()
    tellFixedTexts(run)
    run.job.retireLines()
    let destinations = run.destinations
    let open = destinations.indices.filter { destinations[$0].isOpen }
    let isReady = { destinations[$0].output?.mayRenew(run.job.media) == true }
    let due = job.texts.due(open, isReady) { open.flatMap { destinations[$0].textFiles } }
    guard !due.isEmpty else { return }
    let sent = flowing
    tellRefusals(due) { index throws(LiveKitError) in try destinations[index].reload(for: sent, in: run.job) }
    feed()
  }

  func renewSource() {}

  /// Nothing that somebody has edited stays as it was without a word.
  private func tellFixedTexts(_ run: JobRun) {
    var watch = job.fixedTexts ?? FixedTextWatch(PipelineFactory(folder: room.options.pipelineFolder).store)
    defer { job.fixedTexts = watch }
    let due = watch.due()
    guard !due.isEmpty else { return }
    let open = run.destinations.filter(\.isOpen).map(\.target.destination.shown)
    for error in due { tell(.reloadRefused(error, locations: open.isEmpty ? [request] : open)) }
  }

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
  /// Where texts may stand that it is made of.
  fileprivate var textFiles: [String] {
    guard let output else { return [] }
    return output.texts.flatMap { output.factory.store.paths(of: $0.kind, $0.name) }
  }

  /// Has it go on with texts that have changed; one that makes the same as before changes nothing.
  /// - Throws: what is wrong with one, by file and line; it goes on as it was.
  fileprivate func reload(for sent: SentMedia, in job: Job) throws(LiveKitError) {
    guard let output else { return }
    let changed = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try output.factory.changed(output.texts, values: target.destination.values)
    }
    guard !changed.isEmpty else { return }
    let planner = try OutputPlanner(target.destination, encode: target.encode, factory: output.factory)
    let plan = try planner.plan(sent.traits, voices: sent.voices)
    guard !plan.feeds.isEmpty else {
      throw LiveKitError(.template, "\(planner.texts.output.file): \(planner.template) takes nothing of what is sent")
    }
    try job.renew(output, JobDestination.Setup(planner: planner, plan: plan), changed, sent.video)
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
  /// Those of which another text is there now, which can be built.
  /// - Throws: what is wrong with one, by file and line.
  func changed(_ texts: [Template], values: [String: String]) throws(PipelineFailure) -> [TemplateName] {
    var changed: [TemplateName] = []
    for text in texts {
      let now = try fill(template(text.kind, text.name), values: values)
      guard try !now.isSame(as: fill(text, values: values)) else { continue }
      // A pipeline that is built and not run shows what its elements refuse.
      _ = try make(now)
      changed.append(TemplateName(text.kind, text.name))
    }
    return changed
  }
}
