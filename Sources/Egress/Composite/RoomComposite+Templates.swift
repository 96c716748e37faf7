import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates

/// What is mixed by changed templates from a moment on.
struct MixChanges {
  /// Hands on what is mixed.
  let relay: MixRelay
  /// Of each kind, those that run.
  var templates: [Track.Kind: [Template]] = [:]
  fileprivate var renewals: [Track.Kind: MixRenewal] = [:]
  fileprivate var watch = TemplateWatch()

  init(_ relay: MixRelay) { self.relay = relay }

  /// Whether another mix of a kind is to take over.
  func isRenewing(_ kind: Track.Kind) -> Bool { renewals[kind] != nil }
}

/// A mix that is to take over, and what it takes over from.
private struct MixRenewal {
  let templates: [TemplateName]
  let read: [Template]
  /// Of its kind alone.
  let before: (mix: RoomMix, scene: CompositeScene)
  let since = MediaTime.now
  var hasAsked = false
  var isChanging = false

  /// Nobody is seen or heard in what it takes over from after it returned.
  func clear() {
    var scene = before.scene
    scene.clear()
  }
}

// Templates that mix and change while they do.
extension RoomComposite {
  /// From its beginning to the moment at which it takes over: for what is heard to go through it.
  private static let warmUp = Duration.milliseconds(700)
  /// How long frames are waited for.
  private static let patience = Duration.seconds(5)

  func renewSource() {
    guard job.isTold, !job.isFinished, run != nil else { return }
    let kinds = [Track.Kind.video, .audio].filter(options.kinds.contains)
    for kind in kinds { settle(kind) }
    guard let changes = mixing.changes else { return }
    let isReady = { changes.renewals[kinds[$0]] == nil }
    let due = mixing.changes?.watch.due(Array(kinds.indices), isReady) {
      kinds.flatMap { changes.templates[$0] ?? [] }.flatMap { plan.factory.store.paths(of: $0.kind, $0.name) }
    }
    for index in due ?? [] {
      do throws(LiveKitError) { try renew(kinds[index]) } catch { refuseReload(error, kinds[index]) }
    }
  }

  /// Mixes a kind by the templates that are there now, beside the mix that goes on.
  /// - Throws: what is wrong with one, by file and line.
  private func renew(_ kind: Track.Kind) throws(LiveKitError) {
    guard let running = mixing.changes?.templates[kind], let mix = mixing.mix else { return }
    let (names, templates) = try LiveKitError.wrapping { () throws(PipelineFailure) in
      (try plan.factory.changed(running, values: RoomMix.values(options)), try mixTemplates(kind))
    }
    guard !names.isEmpty else { return }
    let next = try makeMix([kind])
    do throws(LiveKitError) { try next.start() } catch {
      Task { await next.stop() }
      throw error
    }
    guard let before = mixing.scene?.move(kind, to: next) else { return }
    mixing.mix = mix.with(kind, of: next)
    mixing.changes?.renewals[kind] = MixRenewal(templates: names, read: templates, before: (mix.only(kind), before))
    expectDelays()
    if kind == .video, labels.board.text(of: nil) != nil { try showLabel(of: nil) }
  }

  /// Has what is mixed waited for: while one mix takes over from another, for as long as the slower one takes.
  func expectDelays() {
    let before = mixing.changes?.renewals.values.map { $0.before.mix } ?? []
    let delays = before.reduce(mixing.mix?.delays ?? [:]) { delays, mix in delays.merging(mix.delays) { max($0, $1) } }
    run?.job.media.expect(delays)
  }

  /// Those that are there now.
  func mixTemplates(_ kind: Track.Kind) throws(PipelineFailure) -> [Template] {
    var templates: [Template] = []
    for name in RoomMix.templates(of: kind, options) {
      templates.append(try plan.factory.template(name.kind, name.name))
    }
    return templates
  }

  /// Looks what has become of a mix that is to take over.
  private func settle(_ kind: Track.Kind) {
    guard let changes = mixing.changes, var renewal = changes.renewals[kind] else { return }
    if changes.relay.hasChanged(kind) { return complete(renewal, kind) }
    guard !renewal.isChanging else { return }
    let age = MediaTime.now - renewal.since
    if let error = changes.relay.failure(kind) ?? mixing.scene?.failure(kind) ?? backgroundFailure(kind)
      ?? lack(kind, renewal, age)
    {
      undo(renewal, kind)
      return refuseReload(error, kind)
    }
    guard age >= Self.warmUp, changes.relay.hasBegun(kind) else { return }
    if kind == .video, age < Self.patience, let lacking = mixing.scene?.lacking(of: renewal.before.scene),
      !lacking.isEmpty
    {
      // Somebody whose frames are few is to be seen at once, too.
      if !renewal.hasAsked {
        for publication in members.wanted where lacking.contains(where: { $0 === publication.track }) {
          publication.media?.requestKeyframe()
        }
      }
      renewal.hasAsked = true
    } else {
      renewal.isChanging = true
      changes.relay.change(kind, at: .now)
    }
    mixing.changes?.renewals[kind] = renewal
  }

  private func lack(_ kind: Track.Kind, _ renewal: MixRenewal, _ age: Duration) -> LiveKitError? {
    guard age >= Self.patience, mixing.changes?.relay.hasBegun(kind) == false else { return nil }
    let names = renewal.templates.map(\.description).joined(separator: " and ")
    return LiveKitError(.template, "\(names): nothing has come of it within \(Self.patience.seconds) s")
  }

  private func backgroundFailure(_ kind: Track.Kind) -> LiveKitError? {
    kind == .video ? mixing.mix?.mend(background: options.background, at: .now) : nil
  }

  private func complete(_ renewal: MixRenewal, _ kind: Track.Kind) {
    mixing.changes?.renewals[kind] = nil
    mixing.changes?.templates[kind] = renewal.read
    expectDelays()
    renewal.clear()
    Task { [mix = renewal.before.mix] in await mix.stop() }
    // It broke as it took over.
    if let error = mixing.changes?.relay.failure(kind) { mixing.fail(error) }
    noteReload(by: renewal.templates, kind)
  }

  private func undo(_ renewal: MixRenewal, _ kind: Track.Kind) {
    mixing.changes?.renewals[kind] = nil
    guard let failed = mixing.mix?.only(kind) else { return }
    mixing.scene?.moveBack(kind, to: renewal.before.scene)
    mixing.mix = mixing.mix?.with(kind, of: renewal.before.mix)
    expectDelays()
    Task { await failed.stop() }
    // What was changed meanwhile was shown in the one that goes.
    guard kind == .video else { return }
    try? showLabel(of: nil)
    _ = mixing.mix?.mend(background: options.background, at: .now)
  }

  /// Ends what was still to be taken over from.
  func endRenewals() async {
    for renewal in mixing.changes?.renewals.values.map({ $0 }) ?? [] {
      renewal.clear()
      await renewal.before.mix.stop()
    }
    mixing.changes?.renewals = [:]
  }
}
