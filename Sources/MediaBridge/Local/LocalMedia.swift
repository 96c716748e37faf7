import Logging
import MediaCore
import MediaPipelines

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
    /// What tells its size, while it is muted: nothing of it is handed on.
    case first
    case media

    /// Whether what comes is processed, or decoded for that.
    var takesMedia: Bool { self == .first || self == .media }
  }

  /// What a decoder begins with; a busy machine takes as long to make one.
  private static let keptTime = Duration.seconds(2)

  private let capture: any MediaCapture
  private let kind: Track.Kind
  /// That of the process, until a room publishes it.
  private let logger = Locked(Loggers().tracks)
  private let state: Locked<State>
  private let newest = Locked(First())
  private let onEnd = Locked<(@Sendable (LiveKitError?) -> Void)?>(nil)
  private let changes = TaskChain()
  private let decoding = TaskChain()
  /// What it does now; never muted of a device.
  private let current = Locked(Demand.nothing)
  private let arrivals = Locked(Arrivals())
  /// What frames go through before they are handed on.
  let processing = FrameProcessing()

  fileprivate struct Arrivals: Sendable {
    /// Frames, or stretches of audio.
    var count = 0
    /// Whether capturing has failed, and nothing has come since.
    var hasFailed = false
    /// Of the newest frame.
    var size: Dimensions?
    var sizes = CapsReading<Dimensions?>()
    var onSize: (@Sendable (Dimensions) -> Void)?
  }

  typealias First = Outcome<CapturedMedia, LiveKitError>

  /// Settled when something has come first since it captures, or cannot come: what failed once may come another time, and
  /// in another size.
  var first: First { newest.withLock { $0 } }

  init(_ capture: any MediaCapture, kind: Track.Kind = .video) {
    (self.capture, self.kind) = (capture, kind)
    state = Locked(State(kept: kind == .video ? KeptGroup(.sinceKeyframe, limit: Self.keptTime) : nil))
  }

  /// How much has come: frames, or stretches of audio; of what is no device, while it is muted, too.
  var count: Int { arrivals.withLock { $0.count } }

  /// Whether what comes may be as its source carries it.
  func mayBeEncoded() async -> Bool { await capture.mayBeEncoded() }
  /// Why it is not, although it was to be.
  func reasonToDecode() async -> String? { await capture.reasonToDecode() }

  /// Where what nobody else is told is logged from now on.
  func log(to logger: Logger) { self.logger.withLock { $0 = logger } }

  /// Calls `handler` from now on when nothing comes any more.
  func onEnd(_ handler: @escaping @Sendable (LiveKitError?) -> Void) { onEnd.withLock { $0 = handler } }

  /// Calls `handler` from now on with the size of the frames that follow when it is another one, on a media thread.
  func onSize(_ handler: @escaping @Sendable (Dimensions) -> Void) { arrivals.withLock { $0.onSize = handler } }

  /// Hands on what comes, on a media thread, until it is removed.
  /// - Parameters:
  ///   - isMeter: whether it only measures what is sent as it comes.
  ///   - onFailure: told where what it is to have decoded cannot be, again and again, on any thread.
  func add(
    _ owner: AnyObject, _ form: Form = .raw, isMeter: Bool = false,
    onFailure: (@Sendable (LiveKitError) -> Void)? = nil, _ take: @escaping @Sendable (CapturedMedia) -> Void
  ) {
    let id = ObjectIdentifier(owner)
    state.withLock { state in
      state.outputs.removeAll { $0.id == id }
      state.outputs.append(Output(id: id, form: form, isMeter: isMeter, onFailure: onFailure, take: take))
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

  /// Captures, or lets go of the device; one after the other where several ask. What has failed is begun anew.
  /// - Parameter demand: asked for when it is its turn.
  func capture(_ demand: @escaping @Sendable () -> Demand) async throws(LiveKitError) {
    try await changes.add { await self.bringIntoLine(demand()) }.value.get()
  }

  /// Lets go of the device; whoever asks for it from now on has it started anew.
  func beginRest() -> Task<Void, Never> { changes.add { _ = await self.bringIntoLine(.nothing) } }

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
    let isAnew = before != .nothing && demand.takesMedia && arrivals.withLock(\.hasFailed)
    guard demand != before || isAnew else { return .success(()) }
    if demand == .nothing || isAnew { await capture.stop() }
    if before.takesMedia, !demand.takesMedia || isAnew { await rest() }
    return before == .nothing || isAnew ? await begin() : .success(())
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
    arrivals.withLock { $0.hasFailed = false }
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
    arrivals.withLock { arrivals in
      arrivals.count += 1
      arrivals.hasFailed = false
    }
    let demand = current.withLock { $0 }
    guard demand != .muted else { return }
    guard media.isEncoded else { return process(media, first) }
    // Nothing that is to be processed is seen or sent before.
    let isProcessed = processing.processor != nil
    if !isProcessed { note(media, first) }
    guard isProcessed || demand != .first else { return }
    let route = state.withLock { $0.route(media, isProcessed: isProcessed) }
    for output in route.outputs { output.take(media) }
    for kept in route.kept { route.decoder?.take(kept) }
    route.decoder?.take(media)
    if route.makesDecoder { makeDecoder(first) }
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
    // What is decoded for some has been noted as it came.
    if isDecoded, processing.processor == nil { first.settle(.success(media)) } else { note(media, first) }
    // It may have been muted since it was captured.
    guard current.withLock({ $0 }) == .media else { return }
    let outputs = state.withLock { state in isDecoded ? state.outputs.filter { $0.form == .raw } : state.outputs }
    for output in outputs { output.take(media) }
  }

  /// It is what comes of the track.
  private func note(_ media: CapturedMedia, _ first: First) {
    let news = kind != .video ? nil : arrivals.withLock { $0.note(media) }
    news?()
    first.settle(.success(media))
  }

  private func end(_ error: LiveKitError?, _ first: First) {
    first.settle(.failure(error ?? LiveKitError(.noMedia, "it ended before anything of this kind came")))
    guard let left = state.withLock({ $0.end() }) else {
      // It is to decode what has come, or to say why it cannot.
      decoding.add { [self] in end(error, first) }
      return
    }
    guard let decoder = left.decoder else { return tellEnd(error ?? (left.isSent ? left.failure : nil)) }
    decoding.add { [self] in
      for kept in left.kept { decoder.take(kept) }
      let failure = await decoder.drain()
      tellEnd(error ?? (left.isSent ? failure : nil))
    }
  }

  private func tellEnd(_ error: LiveKitError?) {
    if error != nil { arrivals.withLock { $0.hasFailed = true } }
    onEnd.withLock { $0 }?(error)
  }

  // MARK: Decoding

  /// Not on the media thread: of what comes meanwhile it gets what it can begin with.
  private func makeDecoder(_ first: First) {
    decoding.add { [self] in
      do throws(LiveKitError) {
        let made = try await capture.makeDecoder(
          kind == .video ? .video : .audio, onMedia: { [weak self] in self?.process($0, isDecoded: true, first) },
          onFailure: { [weak self] in self?.decoderFailed($0, first) })
        let isProcessed = processing.processor != nil
        if !state.withLock({ $0.keep(made, isProcessed: isProcessed) }) { await made.stop() }
      } catch {
        decoderFailed(error, first)
      }
    }
  }

  /// What is captured is none the worse for it: another decoder is made with what comes after a pause, unless that fails
  /// again and again.
  private func decoderFailed(_ error: LiveKitError, _ first: First) {
    guard let failure = state.withLock({ $0.fail(error, at: .now) }) else { return }
    if let decoder = failure.decoder { decoding.add { await decoder.stop() } }
    guard failure.isOver else { return }
    first.settle(.failure(error))
    for output in failure.outputs { output.onFailure?(error) }
    // Who only sees or hears it here has nobody to be told by.
    guard failure.outputs.contains(where: { $0.onFailure == nil }) else { return }
    let logger = logger.withLock { $0 }
    logger.warning("a local track is not decoded", metadata: ["kind": "\(kind)", "reason": "\(error.message)"])
  }
}

extension LocalMedia.Arrivals {
  /// - Returns: what tells that frames have another size now.
  fileprivate mutating func note(_ media: CapturedMedia) -> (@Sendable () -> Void)? {
    guard let new = sizes.value(of: media.media.caps, { Dimensions(of: $0) }), new != size else { return nil }
    size = new
    guard let onSize else { return nil }
    return { onSize(new) }
  }
}
