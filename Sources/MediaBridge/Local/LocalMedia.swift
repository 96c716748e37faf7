import MediaCore

/// What a local track captures, for its renderers and for those who send it. What comes as its source carries it is decoded
/// once for all that take raw media, while there are any.
final class LocalMedia: Sendable {
  /// What somebody takes.
  enum Form: Sendable {
    /// Frames or PCM.
    case raw
    /// What comes, whether it is encoded or not.
    case asItComes
    /// The same, up to the keyframe from which on there is raw media.
    case rawSoon
  }

  /// What its track wants of it.
  enum Demand: Sendable {
    case nothing
    /// A device is let go of; what is none goes on, and what comes of it goes nowhere.
    case muted
    case media
  }

  fileprivate struct Output {
    let id: ObjectIdentifier
    var form: Form
    let take: @Sendable (CapturedMedia) -> Void
  }

  fileprivate struct State {
    var outputs: [Output] = []
    var decoder = Decoder.none
  }

  fileprivate enum Decoder {
    case none
    case making
    case made(MediaDecoder)
    /// Tried again once it captures anew.
    case failed

    var made: MediaDecoder? { if case .made(let decoder) = self { decoder } else { nil } }
  }

  private let capture: any MediaCapture
  private let kind: Track.Kind
  private let state = Locked(State())
  private let newest = Locked(First())
  private let onEnd = Locked<(@Sendable (LiveKitError?) -> Void)?>(nil)
  private let changes = TaskChain()
  private let decoding = TaskChain()
  /// What it does now; never muted of a device.
  private let current = Locked(Demand.nothing)
  private let taken = Locked(0)
  /// What frames go through before they are handed on.
  let processing = FrameProcessing()

  typealias First = Outcome<CapturedMedia, LiveKitError>

  /// Settled when something has come first since it captures, or cannot come: what failed once may come another time, and
  /// in another size.
  var first: First { newest.withLock { $0 } }

  init(_ capture: any MediaCapture, kind: Track.Kind = .video) { (self.capture, self.kind) = (capture, kind) }

  /// How much has come: frames, or stretches of audio.
  var count: Int { taken.withLock { $0 } }

  /// Whether what comes may be as its source carries it.
  func mayBeEncoded() async -> Bool { await capture.mayBeEncoded() }
  /// Why it is not, although it was to be.
  func reasonToDecode() async -> String? { await capture.reasonToDecode() }

  /// Calls `handler` from now on when nothing comes any more.
  func onEnd(_ handler: @escaping @Sendable (LiveKitError?) -> Void) { onEnd.withLock { $0 = handler } }

  /// Hands on what comes, on a media thread, until it is removed.
  func add(_ owner: AnyObject, _ form: Form = .raw, _ take: @escaping @Sendable (CapturedMedia) -> Void) {
    let id = ObjectIdentifier(owner)
    state.withLock { state in
      state.outputs.removeAll { $0.id == id }
      state.outputs.append(Output(id: id, form: form, take: take))
    }
  }

  /// Hands on raw media from a keyframe on, and until then what comes.
  func decode(for owner: AnyObject) {
    let id = ObjectIdentifier(owner)
    state.withLock { state in
      guard let index = state.outputs.firstIndex(where: { $0.id == id && $0.form == .asItComes }) else { return }
      state.outputs[index].form = .rawSoon
    }
  }

  /// One call may be at its end when it returns.
  func remove(_ owner: AnyObject) {
    let id = ObjectIdentifier(owner)
    let unused = state.withLock { state -> MediaDecoder? in
      state.outputs.removeAll { $0.id == id }
      return state.takesRaw ? nil : state.takeDecoder()
    }
    if let unused { decoding.add { await unused.stop() } }
  }

  /// Captures, or lets go of the device; one after the other where several ask.
  /// - Parameter demand: asked for when it is its turn.
  func capture(_ demand: @escaping @Sendable () -> Demand) async throws(LiveKitError) {
    try await changes.add { await self.bringIntoLine(demand()) }.value.get()
  }

  /// From the next frame on.
  func set(processor: (any VideoProcessor)?) {
    guard let old = processing.set(processor) else { return }
    changes.add { [processing] in await processing.end(old) }
  }

  private func bringIntoLine(_ demand: Demand) async -> Result<Void, LiveKitError> {
    let demand = demand == .muted && !capture.goesOnMuted ? .nothing : demand
    let before = current.withLock { current in
      defer { current = demand }
      return current
    }
    guard demand != before else { return .success(()) }
    if demand == .nothing { await capture.stop() }
    if before == .media { await rest() }
    return before == .nothing ? await begin() : .success(())
  }

  /// What comes next begins anew.
  private func rest() async {
    await decoding.settled()
    await state.withLock { $0.takeDecoder() }?.stop()
    await processing.pause()
  }

  private func begin() async -> Result<Void, LiveKitError> {
    let first = First()
    newest.withLock { $0 = first }
    do throws(LiveKitError) {
      try await capture.start(
        CaptureHandlers(
          media: { [weak self] in self?.take($0, first) }, end: { [weak self] in self?.end($0, first) }))
      return .success(())
    } catch {
      current.withLock { $0 = .nothing }
      return .failure(error)
    }
  }

  private func take(_ media: CapturedMedia, _ first: First) {
    guard current.withLock({ $0 }) != .muted else { return }
    taken.withLock { $0 += 1 }
    guard media.isEncoded else { return process(media, first) }
    // Nothing that is to be processed is seen or sent before.
    let isProcessed = processing.processor != nil
    if !isProcessed { first.settle(.success(media)) }
    let (outputs, decoder, isToBeMade) = state.withLock { $0.route(media, isProcessed: isProcessed) }
    for output in outputs { output.take(media) }
    decoder?.take(media)
    if isToBeMade { makeDecoder(first) }
  }

  /// Raw media goes through the processor, where there is one.
  private func process(_ media: CapturedMedia, isDecoded: Bool = false, _ first: First) {
    let isProcessed = processing.take(media) { [weak self] result in
      switch result {
      case .success(let processed): self?.handOn(processed, isDecoded, first)
      case .failure(let error): self?.end(error, first)
      }
    }
    if !isProcessed { handOn(media, isDecoded, first) }
  }

  /// Raw media, for all but those that get it encoded.
  private func handOn(_ media: CapturedMedia, _ isDecoded: Bool, _ first: First) {
    first.settle(.success(media))
    let outputs = state.withLock { state in isDecoded ? state.outputs.filter { $0.form == .raw } : state.outputs }
    for output in outputs { output.take(media) }
  }

  private func end(_ error: LiveKitError?, _ first: First) {
    first.settle(.failure(error ?? LiveKitError(.noMedia, "it ended before anything of this kind came")))
    guard let decoder = state.withLock({ $0.takeDecoder() }) else { return tellEnd(error) }
    decoding.add { [self] in
      await decoder.drain()
      tellEnd(error)
    }
  }

  private func tellEnd(_ error: LiveKitError?) { onEnd.withLock { $0 }?(error) }

  // MARK: Decoding

  /// Not on the media thread: what comes meanwhile goes only to those who take it as it is.
  private func makeDecoder(_ first: First) {
    decoding.add { [self] in
      do throws(LiveKitError) {
        let made = try await capture.makeDecoder(
          kind == .video ? .video : .audio, onMedia: { [weak self] in self?.process($0, isDecoded: true, first) },
          onFailure: { [weak self] in self?.decoderFailed($0) })
        let isProcessed = processing.processor != nil
        if !state.withLock({ $0.keep(made, isProcessed: isProcessed) }) { await made.stop() }
      } catch {
        decoderFailed(error)
      }
    }
  }

  private func decoderFailed(_ error: LiveKitError) {
    let failed = state.withLock { state in
      defer { state.decoder = .failed }
      return state.takeDecoder()
    }
    if let failed { decoding.add { await failed.stop() } }
    tellEnd(error)
  }
}

extension LocalMedia.State {
  /// Who gets encoded media, the decoder that does, and whether one is to be made.
  /// - Parameter isProcessed: whether nobody may get it before it is decoded and processed.
  fileprivate mutating func route(
    _ media: CapturedMedia, isProcessed: Bool
  ) -> ([LocalMedia.Output], MediaDecoder?, Bool) {
    if isProcessed { for index in outputs.indices { outputs[index].form = .raw } }
    guard isProcessed || takesRaw else { return (outputs, nil, false) }
    let made = decoder.made
    if made != nil, !media.media.isDelta {
      for index in outputs.indices where outputs[index].form == .rawSoon { outputs[index].form = .raw }
    }
    let isToBeMade = if case .none = decoder { true } else { false }
    if isToBeMade { decoder = .making }
    return (outputs.filter { $0.form != .raw }, made, isToBeMade)
  }

  /// - Returns: false where nobody wants it any more.
  fileprivate mutating func keep(_ made: MediaDecoder, isProcessed: Bool) -> Bool {
    guard case .making = decoder else { return false }
    decoder = isProcessed || takesRaw ? .made(made) : .none
    return decoder.made != nil
  }

  /// Whether somebody takes raw media, or is to.
  fileprivate var takesRaw: Bool { outputs.contains { $0.form != .asItComes } }

  fileprivate mutating func takeDecoder() -> MediaDecoder? {
    defer { decoder = .none }
    return decoder.made
  }
}
