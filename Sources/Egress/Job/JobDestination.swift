import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates

/// A destination of a job: the lines that feed it, and the pipelines that write it one after the other. It fails alone.
final class JobDestination: Sendable {
  let destination: Destination
  let factory: PipelineFactory
  let lines: DestinationLines
  let breakage: Breakage
  let writer: DestinationWriter
  let stages: StageList
  /// What it is made of, and how it is fed.
  let setup: Locked<Setup>
  /// Had by whoever has another pipeline take over.
  private let takeovers = TakeoverLock()
  /// What it is about to go on with.
  let renewal = Locked<Renewal?>(nil)
  let sort: Sort
  /// Nil where what is said is not to be written.
  let captions: DestinationCaptions?
  /// Who waits for a track of their own.
  let voices = Locked(VoiceWait())
  /// Since when a stage waits for a keyframe of what is sent; nil while none does.
  let keyframeWait = Locked<MediaTime?>(nil)
  private let ending = DestinationEnding()

  struct Setup: Sendable {
    var planner: OutputPlanner
    var plan: OutputPlan
  }
  var planner: OutputPlanner { setup.withLock { $0.planner } }
  var plan: OutputPlan { setup.withLock { $0.plan } }

  /// Opens its first pipeline; nothing is written before its lines bring media.
  /// - Parameters:
  ///   - lines: of that job; where it has begun, this begins at the next keyframe.
  ///   - factory: with the values that were set for this destination.
  ///   - claim: of the file.
  ///   - reconnectFor: how long a server may be away before that ends it.
  ///   - parts: how much each of its files holds; nil for one file.
  ///   - captions: beside its first file; nil for none.
  ///   - onChange: called when it cannot go on.
  init(
    _ destination: Destination, planner: OutputPlanner, plan: OutputPlan, lines: [OutputInput: FeedLine],
    of media: JobMedia, factory: PipelineFactory, claim: FileClaim?, reconnectFor: Duration,
    parts: PartLimit?, captions: DestinationCaptions.Start?, onChange: @escaping @Sendable () -> Void
  ) throws(LiveKitError) {
    (self.destination, self.factory) = (destination, factory)
    (self.lines, setup) = (DestinationLines(lines, media), Locked(Setup(planner: planner, plan: plan)))
    let breakage = Breakage(of: destination, onChange: onChange)
    self.breakage = breakage
    sort = Sort(destination, reconnectFor: reconnectFor, parts: parts, breakage, onClose: onChange)
    let said = captions.map { DestinationCaptions($0.place) }
    self.captions = said
    stages = StageList(breakage) { [ending] in said?.advance(to: nil, end: ending.moment) }
    let first = try sort.open(
      StageMaker(factory: factory, lines: self.lines), plan, at: destination, claim, breakage)
    sort.window?.start()
    stages.add(first)
    self.captions?.add(captions?.file, of: first)
    writer = DestinationWriter(
      DestinationWriter.Turn(stage: first, lines: self.lines.byInput), from: media.origin == nil ? nil : media.length,
      onOver: { [stages] in stages.end($0, before: $1) }, onPastEnd: { [ending] in ending.ring() })
    for (input, line) in lines { attach(line, input) }
    sort.link?.start(
      isIdle: { media.origin == nil }, reopen: { [weak self] () throws(LiveKitError) in try self?.reopen(media) })
    rotate(media)
  }

  func attach(_ line: FeedLine, _ input: OutputInput) {
    let name = input.name
    line.add(
      FeedLine.Taker(
        id: ObjectIdentifier(self), keyframeInterval: input == .video ? planner.keyframeInterval : nil,
        // A line is there while it hands something on.
        take: { [writer, unowned line] in writer.take($0, into: name, from: line, at: $1) },
        fail: { [breakage, renewal, id = line.id] error in
          if !renewal.withLock({ $0?.fail(id, error) ?? false }) { breakage.note(error) }
        }))
  }

  // MARK: Changes

  /// Has another line feed an input from its next keyframe on, in the same pipeline.
  func feed(_ input: OutputInput, from line: FeedLine, _ media: JobMedia) {
    lines.replace(input, by: line, media)
    writer.feed(lines.byInput)
    attach(line, input)
    line.requestKeyframe()
  }

  /// Has another pipeline take over at the next keyframe.
  /// - Parameter earliest: the moment of the job before which it does not, and asks for no keyframe; nil for none.
  func takeOver(_ plan: OutputPlan, at next: Destination, from earliest: Duration? = nil) throws(LiveKitError) {
    takeOver(plan, in: try open(plan, at: next), from: earliest)
  }

  /// Opens another pipeline, to which nothing goes yet.
  /// - Parameter current: that ends first where only one may write; nil where it is gone, or goes on beside it.
  func open(
    _ plan: OutputPlan, at next: Destination, after current: OutputStage? = nil
  ) throws(LiveKitError) -> OutputStage {
    let maker = StageMaker(factory: factory, lines: lines)
    let said = try captions?.claim(beside: next)
    let stage: OutputStage
    if let current, let held = try openHeld(plan, at: next, maker, after: current) {
      stage = held
    } else {
      stage = try sort.open(maker, plan, at: next, next.isFile ? FileClaim.taken(next.location) : nil, breakage)
    }
    stages.add(stage)
    captions?.add(said, of: stage)
    return stage
  }

  func takeOver(_ plan: OutputPlan, in stage: OutputStage, from earliest: Duration? = nil) {
    setup.withLock { $0.plan = plan }
    let turn = DestinationWriter.Turn(stage: stage, lines: lines.byInput, earliest: earliest ?? .zero)
    if let late = writer.prepare(turn), !late.continues { stages.discard(late.stage) }
    if earliest == nil { lines.leader?.requestKeyframe() }
  }

  /// Where the part after those that there are is written.
  var nextPart: Destination {
    get throws(LiveKitError) {
      guard destination.isFile else { return destination }
      let parts = laterFiles.count + 1
      return try FileClaim.asking(destination.location) { [self] in
        destination.nextPart(after: parts, isTaken: isTaken)
      }
    }
  }

  /// Whether something else lies where files of that part would be, besides its own name.
  private func isTaken(_ part: Destination) -> Bool {
    if captions?.isTaken(beside: part) == true { return true }
    guard let options = plan.segments else { return false }
    return (try? SegmentNames(part, options).occupied(isLater: true)) != nil
  }

  /// What is written now; nil before the beginning and once the end is near.
  func part(of media: JobMedia) -> PartRotation.Part? {
    guard failure == nil, media.origin != nil, !writer.awaitsBeginning, ending.moment == nil else { return nil }
    let (stage, begin) = writer.part
    return PartRotation.Part(begin: begin, now: media.length, bytes: stage.bytes, hasNext: writer.waiting != nil)
  }

  /// The same for whoever has the next part begin: nil during a pause, in which nobody is to send a keyframe for it.
  func goingPart(of media: JobMedia) -> PartRotation.Part? { media.isPaused ? nil : part(of: media) }

  private func rotate(_ media: JobMedia) {
    sort.rotation?.start(
      part: { [weak self] in self?.goingPart(of: media) },
      open: { [weak self] (due) throws(LiveKitError) in
        // Where somebody else has one take over, the next look tries again.
        try self?.changeIfFree { destination throws(LiveKitError) in
          try destination.openNext(from: due, media)
        }
      },
      ask: { [lines] in
        guard let line = lines[.video] else { return true }
        media.blackenAnew(line)
        return line.requestKeyframe()
      })
  }

  // MARK: The end

  /// Has it end at the newest moment of the job, and waits until what comes before that has come to it: what is on its way
  /// through encoders, and what stands in where nothing is sent.
  func pass(_ media: JobMedia) async {
    let moment = media.length
    ending.set(moment)
    writer.finish(at: moment)
    let deadline = MediaTime.now + Self.patience
    while !writer.isPastEnd, failure == nil, !ending.isFinishing, .now < deadline {
      await ending.wait(until: deadline)
    }
  }
  private static let patience = OutputTimeline.patience * 2

  /// Takes nothing from its lines any more.
  func leaveLines(_ media: JobMedia) {
    lines.end(media)
    forgetVoices()
    ending.leave(at: media.length)
    for line in lines.allOpen { _ = line.remove(ObjectIdentifier(self)) }
  }

  /// Connects with the server anew, or at the next look where somebody else has another pipeline take over.
  private func reopen(_ media: JobMedia) throws(LiveKitError) {
    let isOpen = try changeIfFree { destination throws(LiveKitError) in
      destination.dropUntried()
      try destination.takeOver(destination.plan, at: destination.destination)
      return true
    }
    // While nothing is sent nobody could send what it begins with.
    if isOpen == true, let line = lines[.video] { media.blackenAnew(line) }
  }

  /// Runs `body` once nobody else has another pipeline take over.
  func change<Result: Sendable, Failure: Error>(
    _ body: (JobDestination) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try takeovers.wait { () throws(Failure) in try body(self) }
  }

  /// The same for whoever can come back later.
  /// - Returns: nil where somebody else does.
  @discardableResult
  func changeIfFree<Result: Sendable, Failure: Error>(
    _ body: (JobDestination) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    try takeovers.ifFree { () throws(Failure) in try body(self) }
  }

  // MARK: State

  /// Where it is on its way.
  func state(_ media: JobMedia) -> DestinationStatus.State {
    if failure != nil { return .failed }
    if ending.isOver { return .complete }
    if ending.isFinishing || ending.moment != nil { return .ending }
    if sort.link?.status.isReconnecting == true { return .reconnecting }
    return media.origin == nil || writer.awaitsBeginning || stages.isOpening ? .starting : .active
  }

  /// What its files really hold, once they have ended and where they can be read; else what came for it.
  func length(_ media: JobMedia) -> Duration {
    if let length = stages.storedLength { return length }
    guard !writer.awaitsBeginning else { return .zero }
    return max((ending.moment ?? media.length) - writer.beginning, .zero)
  }

  /// The moment of the job from which on nothing comes to it; nil while all does.
  var end: Duration? { ending.moment }

  /// Whether it is a window that somebody has closed.
  var isClosed: Bool { sort.window?.isClosed == true }

  func has(_ kind: Track.Kind) -> Bool { lines[OutputInput(kind)] != nil }

  /// Whether it is fed what is made of decoded frames or PCM.
  func isRaw(_ kind: Track.Kind) -> Bool { lines[OutputInput(kind)]?.form.isRaw == true }

  /// Why it cannot go on, or is not complete; nil while nothing is wrong.
  var failure: LiveKitError? { breakage.error ?? stages.loss }

  /// Completes nothing, since nothing came: its file goes.
  func abandon() { for stage in writer.stages { stage.abandon() } }

  /// Ends what it writes with a reason.
  func fail(_ error: LiveKitError) { breakage.note(error) }

  /// Of what is no file.
  var stream: StreamStatus? {
    guard var status = sort.link?.status else { return nil }
    status.reason = status.reason.map { $0.about(destination) }
    return status
  }

  /// What the inputs of a kind lost because encoding or writing did not keep up.
  func dropped(_ kind: Track.Kind) -> Int {
    lines.all.keys.filter { $0.kind == kind }.reduce(0) { sum, input in
      sum + writer.dropped(at: input.name) + stages.dropped(at: input.name) + lines.dropped(input)
    }
  }

  /// Whether what was written does not lie under its name any more.
  var isLost: Bool { stages.loss != nil }
  /// Of all its files.
  var bytes: Int64 { stages.bytes }
  /// The files that are whole and closed, segments ahead of what lists them.
  var completedFiles: [String] { destination.isFile ? stages.completedFiles : [] }
  /// The last of those.
  var newestCompletedFile: String? { destination.isFile ? stages.newestCompletedFile : nil }
  /// Paths of the segments that its files list, as far as they are complete.
  var segments: [String] { stages.segments }
  /// The files besides the first, in the order in which they began.
  var laterFiles: [String] { stages.locations.dropFirst().filter { $0 != destination.location } }

  /// Completes and closes all that it writes, once nothing comes any more; `failure` says what came of it. Whoever calls
  /// it again waits for the same end.
  func finish() async { await ending.finish(close) }

  private func close() async {
    await sort.stop()
    if sort.window?.isDisplayLost == true { return }
    writer.flush()
    if let incompleteness = sort.link?.incompleteness?.about(destination) { breakage.note(whole: incompleteness) }
    if let waiting = writer.waiting { stages.discard(waiting) }
    if writer.stopWaiting() {
      stages.discard(writer.stage)
      breakage.note(LiveKitError(.noMedia, "no keyframe has come that it could begin with"))
    } else {
      // Also one that is over, where a media thread is yet to say so. A window has nothing to complete, and its display need
      // not answer any more.
      for stage in stages.open { sort.window == nil ? stages.end(stage) : stages.discard(stage) }
    }
    do throws(LiveKitError) { try await stages.finish() } catch { breakage.note(whole: error) }
    captions?.end()
    if let reason = sort.rotation?.failure {
      breakage.note(
        LiveKitError(reason.code, "the next part could not be begun: \(reason.message)", underlying: reason))
    }
    // Who watches a live stream has lived through it.
    if destination.isFile, let missing { breakage.note(missing.lack) }
  }
}
