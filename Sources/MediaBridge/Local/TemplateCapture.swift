import GStreamerKit
import MediaCore
import MediaPipelines

/// A capture template whose outputs several tracks share: a file's video and its audio. It runs while one of them wants it.
actor TemplateCapture {
  private let source: Source
  /// Whether it is no device, and goes on while its tracks are muted.
  nonisolated let goesOnMuted: Bool
  /// What is not decoded.
  private var passthrough: PassthroughFormats
  /// Why video is decoded in spite of that.
  private(set) var reason: String?
  private let taps = Locked<[CapturePipeline.Kind: CaptureHandlers]>([:])
  private var pipeline: CapturePipeline?
  /// Runs until the first track takes it, though nobody does yet.
  private var isHeld = false
  /// How many pipelines were made.
  private var runs = 0
  /// Settled when something has come of the pipeline that runs for one of the tracks, or it has failed before.
  private var begun = Outcome<Void, LiveKitError>()
  /// What has shown its first media while the rest goes nowhere, until it begins anew; nil while all goes on.
  private let shown = Locked<Set<CapturePipeline.Kind>?>(nil)
  /// Whether only one output has anything, and who wants to know.
  private let single = Locked(Single())
  /// What begins or ends.
  private let changes = TaskChain()

  /// The template with its values, the folder that goes before the usual places, and where in a file it begins.
  private struct Source {
    let template: String
    let values: [String: String]
    let folder: String?
    let start: Duration

    /// Where a person has to allow what it captures.
    let access = DesktopAccess()

    var factory: PipelineFactory { factory(with: [:]) }
    func factory(with granted: [String: String]) -> PipelineFactory {
      PipelineFactory(folder: folder, overrides: values.merging(granted) { own, _ in own })
    }
    var wantsAccess: Bool {
      get throws(PipelineFailure) {
        DesktopAccess.isWanted(by: try factory.template(.capture, template), values: values)
      }
    }
  }

  private struct Single {
    var isKnown = false
    var tell: (@Sendable () -> Void)?
  }

  /// - Parameters:
  ///   - values: for the template's variables.
  ///   - folder: searched before the usual places.
  ///   - start: where in a file it begins.
  ///   - passthrough: what is not decoded.
  ///   - goesOnMuted: whether it is no device, and goes on while its tracks are muted.
  init(
    template: String, values: [String: String], folder: String?, start: Duration = .zero,
    passthrough: PassthroughFormats = PassthroughFormats(), goesOnMuted: Bool = false
  ) {
    self.goesOnMuted = goesOnMuted
    source = Source(template: template, values: values, folder: folder, start: start)
    self.passthrough = passthrough
  }

  /// One of its outputs, for one track.
  nonisolated func output(_ kind: CapturePipeline.Kind) -> any MediaCapture {
    TemplateOutput(capture: self, kind: kind)
  }

  /// Whether the person at the desktop is asked before it runs.
  nonisolated var asksPerson: Bool { (try? source.wantsAccess) ?? false }

  /// What the template can make.
  func kinds() throws(LiveKitError) -> Set<CapturePipeline.Kind> {
    try LiveKitError.wrapping { () throws(PipelineFailure) in
      try CapturePipeline.kinds(of: source.template, factory: source.factory)
    }
  }

  /// Finds mistakes in what is set for its template, without opening anything.
  /// - Throws: what the template does not take.
  nonisolated func check() throws(LiveKitError) {
    let (name, location) = (TemplateName(.capture, source.template), "location")
    try LiveKitError.wrapping { () throws(PipelineFailure) in
      let known = try PipelineFactory(folder: source.folder).variables(of: name)
      let set = source.values.filter { known.contains($0.key) && $0.key != location }
      try PipelineFactory(folder: source.folder, overrides: set)
        .check([name], values: source.values.filter { $0.key == location })
    }
  }

  /// Begins anew where it runs.
  /// - Parameter limit: how long something is waited for to come for one of its tracks, before which they are told no
  ///   failure; nil not to wait.
  func restart(within limit: Duration?) async throws(LiveKitError) {
    try await Self.result(
      of: changes.add {
        await self.end()
        self.shown.withLock { $0 = nil }
        return await self.bringIntoLine(isQuiet: limit != nil)
      })
    guard let limit else { return }
    let error = LiveKitError(.noMedia, "nothing comes of it", fault: .publisher)
    try await begun.value(within: limit, else: error)
  }

  /// Gives each track the first of its media, and the rest once it begins anew.
  func holdBack() { shown.withLock { $0 = [] } }

  /// Keeps it running until the next one takes it: a live source may not be there a second time.
  func hold() { isHeld = true }

  /// Calls `tell` once it is known that one of its outputs has nothing.
  func onSingle(_ tell: @escaping @Sendable () -> Void) {
    let isKnown = single.withLock { single in
      single.tell = tell
      return single.isKnown
    }
    if isKnown { tell() }
  }

  fileprivate func mayBeEncoded(_ kind: CapturePipeline.Kind) -> Bool {
    !(kind == .video ? passthrough.video : passthrough.audio).isEmpty
  }

  fileprivate func makeDecoder(
    _ kind: CapturePipeline.Kind, onMedia: @escaping @Sendable (CapturedMedia) -> Void,
    onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) -> MediaDecoder {
    try MediaDecoder(kind, factory: PipelineFactory(folder: source.folder), onMedia: onMedia, onFailure: onFailure)
  }

  /// Reads the beginning of a file, and has its video decoded where it cannot be sent as it is. Not while it runs.
  func lookAhead() async {
    guard !passthrough.video.isEmpty, pipeline == nil else { return }
    let beginning = FileBeginning(
      template: source.template, factory: source.factory, passthrough: passthrough, start: source.start)
    switch await beginning.read() {
    case .fits: return
    case .raw: break
    case .obstacle(let obstacle): reason = obstacle
    }
    passthrough.video = []
  }

  /// Whether it runs, and will end by itself.
  var hasLength: Bool { pipeline?.hasLength ?? false }

  fileprivate func add(_ kind: CapturePipeline.Kind, _ handlers: CaptureHandlers) async throws(LiveKitError) {
    taps.withLock { $0[kind] = handlers }
    isHeld = false
    do throws(LiveKitError) {
      try await Self.result(of: changes.add { await self.bringIntoLine() })
      guard pipeline?.kinds.contains(kind) != false else {
        let name = kind == .video ? "frames" : "pcm"
        throw LiveKitError(.template, "the capture template \(source.template) has no appsink called \(name)")
      }
    } catch {
      await remove(kind)
      throw error
    }
  }

  /// Of a change, which is cancelled with this task: a person who is asked may take longer than anybody waits.
  private static func result(of change: Task<Result<Void, LiveKitError>, Never>) async throws(LiveKitError) {
    let result = await withTaskCancellationHandler {
      await change.value
    } onCancel: {
      change.cancel()
    }
    try result.get()
  }

  fileprivate func remove(_ kind: CapturePipeline.Kind) async {
    let isLast = taps.withLock { taps in
      _ = taps.removeValue(forKey: kind)
      return taps.isEmpty
    }
    // Who is being asked need not answer; what waits for that comes before the change below.
    if isLast, !isHeld, pipeline == nil { source.access.close() }
    try? await settle()
  }

  /// Captures while somebody wants it.
  private func settle() async throws(LiveKitError) {
    try await changes.add { await self.bringIntoLine() }.value.get()
  }

  private func end() async {
    await pipeline?.stop()
    pipeline = nil
    source.access.close()
  }

  private func bringIntoLine(isQuiet: Bool = false) async -> Result<Void, LiveKitError> {
    let isWanted = isHeld || taps.withLock { !$0.isEmpty }
    guard isWanted != (pipeline != nil) else { return .success(()) }
    guard isWanted else {
      await end()
      return .success(())
    }
    do throws(LiveKitError) {
      let granted = try await open()
      let made = try LiveKitError.wrapping { () throws(PipelineFailure) in try make(granted, isQuiet: isQuiet) }
      pipeline = made
      if source.start > .zero { try await seek(made) }
      return .success(())
    } catch {
      source.access.close()
      return .failure(error)
    }
  }

  /// Asks whom the template makes it ask.
  /// - Returns: values for it.
  private func open() async throws(LiveKitError) -> [String: String] {
    let isAsked = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try source.factory.check([TemplateName(.capture, source.template)])
      return try source.wantsAccess
    }
    guard isAsked else { return [:] }
    return try await source.access.open(showsPointer: source.values["pointer"] != "false") { [taps] in
      Self.end(taps, .desktopIsOver)
    }
  }

  private static func end(_ taps: Locked<[CapturePipeline.Kind: CaptureHandlers]>, _ error: LiveKitError?) {
    for handlers in taps.withLock({ Array($0.values) }) { handlers.end(error) }
  }

  private func seek(_ made: CapturePipeline) async throws(LiveKitError) {
    do throws(PipelineFailure) { try await made.start(at: source.start) } catch {
      await end()
      throw LiveKitError(error)
    }
  }

  private func make(_ granted: [String: String], isQuiet: Bool) throws(PipelineFailure) -> CapturePipeline {
    let (taps, shown, single, begun) = (taps, shown, single, Outcome<Void, LiveKitError>())
    single.withLock { $0.isKnown = false }
    self.begun = begun
    runs += 1
    let run = runs
    let isOver = Locked(false)
    let end = { @Sendable (error: LiveKitError?) in
      // Elements behind the one that failed say so, too.
      guard isOver.set(\.self, to: true) else { return }
      let hasBegun = if case .success = begun.current { true } else { false }
      begun.settle(.failure(error ?? LiveKitError(.noMedia, "it has ended")))
      guard hasBegun || !isQuiet else { return }
      // What was only shown while its tracks are announced begins anew.
      guard error != nil || shown.withLock({ $0 == nil }) else { return }
      Self.end(taps, error)
    }
    return try CapturePipeline(
      source.template, factory: source.factory(with: granted), passthrough: passthrough,
      isStarted: source.start == .zero,
      CapturePipeline.Handlers(
        media: { output, media, time in
          guard let handlers = taps.withLock({ $0[output.kind] }) else { return }
          if begun.current == nil { begun.settle(.success(())) }
          guard shown.withLock({ $0?.insert(output.kind).inserted ?? true }) else { return }
          handlers.media(CapturedMedia(media: media, time: time, isEncoded: output.isEncoded, run: run))
        }, end: { end(nil) }, failure: { end(LiveKitError($0)) },
        missing: {
          let tell = single.withLock { single in
            single.isKnown = true
            return single.tell
          }
          tell?()
        }))
  }
}

private final class TemplateOutput: MediaCapture {
  private let capture: TemplateCapture
  private let kind: CapturePipeline.Kind

  init(capture: TemplateCapture, kind: CapturePipeline.Kind) { (self.capture, self.kind) = (capture, kind) }

  func start(_ handlers: CaptureHandlers) async throws(LiveKitError) { try await capture.add(kind, handlers) }
  func stop() async { await capture.remove(kind) }
  var goesOnMuted: Bool { capture.goesOnMuted }
  func mayBeEncoded() async -> Bool { await capture.mayBeEncoded(kind) }
  func reasonToDecode() async -> String? {
    guard kind == .video else { return nil }
    return await capture.reason
  }
  func makeDecoder(
    _ kind: CapturePipeline.Kind, onMedia: @escaping @Sendable (CapturedMedia) -> Void,
    onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) async throws(LiveKitError) -> MediaDecoder {
    try await capture.makeDecoder(kind, onMedia: onMedia, onFailure: onFailure)
  }
}
