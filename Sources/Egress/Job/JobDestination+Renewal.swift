import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates

/// Templates that a destination goes on with from its next keyframe on; until then, and where they fail before, what ran before
/// stays.
struct Renewal: Sendable {
  /// What changes.
  let templates: [TemplateName]
  /// The file that it goes on in; nil where it stays in the same, or is none.
  let part: Destination?
  /// What is to take over.
  fileprivate let stage: OutputStage
  fileprivate let before: JobDestination.Setup
  fileprivate let lines: [OutputInput: FeedLine]
  /// The lines that are there for it alone.
  fileprivate let newLines: Set<ObjectIdentifier>
  fileprivate var error: LiveKitError?
  /// Whether it counts only once a server has taken something of it.
  fileprivate let isTried: Bool
  /// Whether what ran before is tried again.
  fileprivate var isDropped = false
  /// How long the job had gone on when it was to begin, which it does not while it is paused.
  fileprivate var since: Duration
  /// When a server had taken something first.
  fileprivate var takenSince: MediaTime?
  /// When its keyframe was asked for last.
  fileprivate var asked = MediaTime.now

  /// - Returns: whether that line is of no other use.
  mutating func fail(_ line: ObjectIdentifier, _ error: LiveKitError) -> Bool {
    guard newLines.contains(line) else { return false }
    self.error = self.error ?? error
    return true
  }
}

extension JobDestination {
  /// The templates that run, as they were read.
  var templates: [Template] {
    let templates = setup.withLock { $0.planner.read }
    let encoders = lines.all.values.compactMap { $0.form.encoder.flatMap { templates.encoders[$0] } }
    return encoders.reduce(into: [templates.output]) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Whether a changed template may take over: something is written, and nothing else is about to take over.
  func mayRenew(_ media: JobMedia) -> Bool {
    renewal.withLock { $0 == nil } && part(of: media)?.hasNext == false && !writer.stage.isHeld
  }

  /// Has what changed templates make take over at the next keyframe; of an encoder, once `beginRenewal` says when.
  /// - Parameter fed: the line of each input.
  /// - Returns: false where something else is about to take over by now, and nothing has changed.
  func renew(
    _ next: Setup, _ templates: [TemplateName], fed: [OutputInput: FeedLine], _ media: JobMedia
  ) throws(LiveKitError) -> Bool {
    guard writer.waiting == nil else { return false }
    let current = writer.stage
    guard (next.plan.segments == nil) == (current.segments == nil) else { throw anotherKind(next) }
    let isInPlace = !destination.isFile || current.segments != nil
    let place = try isInPlace ? current.destination : nextPart
    let stage = try open(next.plan, at: place, after: current)
    let (before, old) = (setup.withLock { $0 }, lines.all)
    let newLines = Set(fed.values.map(\.id)).subtracting(old.values.map(\.id))
    let age = media.age(at: .now)
    forgetVoices()
    renewal.withLock {
      $0 = Renewal(
        templates: templates, part: isInPlace ? nil : place, stage: stage, before: before, lines: old,
        newLines: newLines, isTried: sort.link != nil && newLines.isEmpty, since: age)
    }
    setup.withLock { $0 = next }
    feed(fed, from: stage)
    return true
  }
  private static let encoderPatience = Duration.seconds(5)

  private func anotherKind(_ next: Setup) -> LiveKitError {
    LiveKitError(
      .template,
      "\(next.planner.read.output.file): what is cut into segments stays so while it is written, and what is not does, too"
    )
  }

  private func feed(_ fed: [OutputInput: FeedLine], from stage: OutputStage) {
    lines.set(fed)
    let isEncoded = lines.leader?.isEncoded == true
    let turn = DestinationWriter.Turn(
      stage: stage, lines: lines.byInput, earliest: isEncoded ? DestinationWriter.Turn.unsaid : .zero)
    if let late = writer.prepare(turn), !late.continues { stages.discard(late.stage) }
    for (input, line) in fed { attach(line, input) }
    if !isEncoded { lines.leader?.requestKeyframe() }
  }

  /// The encoder whose keyframe changed templates wait for, and whether it is there for them alone; nil where none is.
  var awaitedEncoder: (line: FeedLine, isNew: Bool)? {
    guard let renewed = renewal.withLock({ $0 }), let line = lines.leader, line.isEncoded else { return nil }
    return (line, renewed.newLines.contains(line.id))
  }

  /// Has changed templates take over at the first keyframe from a moment of the job on.
  func beginRenewal(at moment: Duration, _ media: JobMedia) {
    let age = media.age(at: .now)
    let stage = renewal.withLock { renewal -> OutputStage? in
      renewal?.since = age
      return renewal?.stage
    }
    if let stage { writer.say(moment, of: stage) }
  }

  /// A server takes one connection, and a playlist is written by one: there the stage before ends first.
  /// - Returns: nil where both may be open.
  func openHeld(
    _ plan: OutputPlan, at place: Destination, _ maker: StageMaker, after current: OutputStage
  ) throws(LiveKitError) -> OutputStage? {
    if let link = sort.link { return try openHeld(plan, at: place, maker, link) }
    guard let segments = current.segments else { return nil }
    let fail: @Sendable (LiveKitError) -> Void = { [breakage] in breakage.note($0) }
    return try maker.make(
      plan, at: place, after: segments, claim: current.claim, hold: StageHold(onFailure: fail), onFailure: fail)
  }

  private func openHeld(
    _ plan: OutputPlan, at place: Destination, _ maker: StageMaker, _ link: StreamLink
  ) throws(LiveKitError) -> OutputStage {
    let turn = Locked<Int?>(nil)
    let fail: @Sendable (LiveKitError) -> Void = { [weak link] error in
      if let turn = turn.withLock({ $0 }) { link?.broke(turn, error) }
    }
    // That the one before hangs up is no loss.
    let hold = StageHold(
      onTaken: { [weak link] in
        let next = link?.nextTurn()
        turn.withLock { $0 = next }
      },
      onBegun: { [weak link] stage in
        if let turn = turn.withLock({ $0 }) { link?.follow(stage, turn: turn) }
      }, onFailure: fail)
    return try maker.make(plan, at: place, claim: nil, hold: hold, onFailure: fail)
  }

  // MARK: What becomes of it

  /// Looks what has become of changed templates.
  /// - Parameter now: our time.
  /// - Returns: those that have taken over, with the moment of the job at which they did; nil while nothing is new.
  /// - Throws: why they will not; what ran before goes on.
  func settleRenewal(_ media: JobMedia, at now: MediaTime = .now) throws(LiveKitError) -> (Renewal, start: Duration)? {
    guard let renewed = renewal.withLock({ $0 }), failure == nil else { return nil }
    if renewed.isDropped, let error = renewed.error {
      renewal.withLock { $0 = nil }
      throw error
    }
    if let error = renewed.error ?? lack(of: renewed, media, at: now), giveUp(renewed) { throw error }
    guard writer.waiting == nil else {
      askAgain(renewed)
      return nil
    }
    guard !renewed.isTried || hasStood(renewed) else { return nil }
    renewal.withLock { $0 = nil }
    if let error = renewed.error { breakage.note(error) }
    return (renewed, writer.part.begin)
  }

  /// Whether a server has taken something for long enough to refuse it: what waited is taken before the connection stands.
  private func hasStood(_ tried: Renewal) -> Bool {
    guard !writer.stage.isHeld, writer.stage.load.taken >= StreamRetry.leastTaken else { return false }
    let since = tried.takenSince ?? .now
    renewal.withLock { $0?.takenSince = since }
    return .now >= since + Self.trial
  }
  private static let trial = Duration.seconds(1)

  /// Goes back to what ran before where the server is lost and has taken nothing of a changed template.
  func dropUntried() {
    guard writer.waiting == nil, let reason = sort.link?.status.reason?.about(destination) else { return }
    let before = renewal.withLock { renewal -> Setup? in
      guard var untried = renewal, untried.isTried, !untried.isDropped else { return nil }
      (untried.isDropped, untried.error) = (true, reason)
      renewal = untried
      return untried.before
    }
    if let before { setup.withLock { $0 = before } }
  }

  /// Why an encoder that says nothing is not waited for any longer; nil while it is, and where a sender is waited for.
  private func lack(of waiting: Renewal, _ media: JobMedia, at now: MediaTime) -> LiveKitError? {
    guard let leader = lines.leader, waiting.newLines.contains(leader.id), leader.isEncoded,
      media.age(at: now) >= waiting.since + Self.encoderPatience, writer.waiting != nil
    else { return nil }
    let names = waiting.templates.map(\.description).joined(separator: " and ")
    let seconds = Self.encoderPatience.components.seconds
    return LiveKitError(.template, "\(names): no keyframe has come of it within \(seconds) s")
  }

  /// Goes on with what ran before. Nothing may be opened meanwhile by what is given up.
  /// - Returns: false where it has taken over, and where another look is to be had.
  private func giveUp(_ renewed: Renewal) -> Bool {
    changeIfFree { destination in
      guard let turn = destination.writer.cancel() else { return false }
      destination.stages.discard(turn.stage)
      destination.undo(renewed)
      return true
    } ?? false
  }

  private func undo(_ renewed: Renewal) {
    setup.withLock { $0 = renewed.before }
    lines.set(renewed.lines)
    renewal.withLock { $0 = nil }
    for (input, line) in renewed.lines { attach(line, input) }
  }

  private func askAgain(_ waiting: Renewal) {
    guard .now >= waiting.asked + .seconds(1) else { return }
    renewal.withLock { $0?.asked = .now }
    lines.leader?.requestKeyframe()
  }

  /// Takes nothing more from lines that are not needed any more.
  /// - Returns: whether one of them feeds nobody now.
  func retireLines() -> Bool {
    guard lines.areRetiring else { return false }
    return lines.takeRetired(besides: writer.lines).reduce(false) { $1.remove(ObjectIdentifier(self)) || $0 }
  }
}
