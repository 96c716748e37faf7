import GStreamerKit
import MediaCore
import MediaPipelines

/// Raw media as it was captured, and when: a frame, or a stretch of audio.
struct CapturedMedia: Sendable {
  let media: MediaBuffer
  let time: MediaTime
}

/// What one local track is told of its capture, on any thread.
struct CaptureHandlers: Sendable {
  /// Called on a media thread, in order; to return at once.
  let media: @Sendable (CapturedMedia) -> Void
  /// Nothing comes any more: at the end of a file without an error.
  let end: @Sendable (LiveKitError?) -> Void
}

/// Where a local track's media comes from.
protocol MediaCapture: AnyObject, Sendable {
  /// Begins to capture. Not while it captures.
  func start(_ handlers: CaptureHandlers) async throws(LiveKitError)
  /// The device is let go of, and nothing comes any more, when it returns.
  func stop() async
}

/// A capture template whose outputs several tracks share: a file's video and its audio. It runs while one of them wants it.
actor TemplateCapture {
  private let template: String
  private let values: [String: String]
  private let folder: String?
  private let taps = Locked<[CapturePipeline.Output: CaptureHandlers]>([:])
  private var pipeline: CapturePipeline?
  /// Runs until the first track takes it, though nobody does yet.
  private var isHeld = false
  /// Settled when something has come of the pipeline that runs, or it has failed before.
  private var begun = Outcome<Void, LiveKitError>()
  /// What begins or ends.
  private let changes = TaskChain()

  /// - Parameters:
  ///   - values: for the template's variables.
  ///   - folder: searched before the usual places.
  init(template: String, values: [String: String], folder: String?) {
    (self.template, self.values, self.folder) = (template, values, folder)
  }

  /// One of its outputs, for one track.
  nonisolated func output(_ output: CapturePipeline.Output) -> any MediaCapture {
    TemplateOutput(capture: self, output: output)
  }

  /// What the template can make.
  func outputs() throws(LiveKitError) -> Set<CapturePipeline.Output> {
    try LiveKitError.wrapping { () throws(PipelineFailure) in
      try CapturePipeline.outputs(of: template, factory: factory)
    }
  }

  /// Begins anew where it runs.
  /// - Parameter limit: how long something is waited for to come, before which its tracks are told no failure; nil not to
  ///   wait.
  func restart(within limit: Duration?) async throws(LiveKitError) {
    try await changes.add {
      await self.end()
      return await self.bringIntoLine(isQuiet: limit != nil)
    }.value.get()
    guard let limit else { return }
    try await begun.value(within: limit, else: LiveKitError(.noMedia, "nothing comes", fault: .publisher))
  }

  /// Keeps it running until the next one takes it: a live source may not be there a second time.
  func hold() { isHeld = true }

  private var factory: PipelineFactory { PipelineFactory(folder: folder, overrides: values) }

  fileprivate func add(_ output: CapturePipeline.Output, _ handlers: CaptureHandlers) async throws(LiveKitError) {
    taps.withLock { $0[output] = handlers }
    isHeld = false
    do throws(LiveKitError) {
      try await settle()
      guard pipeline?.outputs.contains(output) != false else {
        throw LiveKitError(.template, "the capture template \(template) has no appsink called \(output.rawValue)")
      }
    } catch {
      await remove(output)
      throw error
    }
  }

  fileprivate func remove(_ output: CapturePipeline.Output) async {
    taps.withLock { _ = $0.removeValue(forKey: output) }
    try? await settle()
  }

  /// Captures while somebody wants it.
  private func settle() async throws(LiveKitError) {
    try await changes.add { await self.bringIntoLine() }.value.get()
  }

  private func end() async {
    await pipeline?.stop()
    pipeline = nil
  }

  private func bringIntoLine(isQuiet: Bool = false) async -> Result<Void, LiveKitError> {
    let isWanted = isHeld || taps.withLock { !$0.isEmpty }
    guard isWanted != (pipeline != nil) else { return .success(()) }
    guard isWanted else {
      await end()
      return .success(())
    }
    do throws(LiveKitError) {
      pipeline = try LiveKitError.wrapping { () throws(PipelineFailure) in try make(isQuiet: isQuiet) }
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  private func make(isQuiet: Bool) throws(PipelineFailure) -> CapturePipeline {
    let (taps, factory, begun) = (taps, factory, Outcome<Void, LiveKitError>())
    try factory.check([TemplateName(.capture, template)])
    self.begun = begun
    let isOver = Locked(false)
    let end = { @Sendable (error: LiveKitError?) in
      // Elements behind the one that failed say so, too.
      guard isOver.set(\.self, to: true) else { return }
      let hasBegun = if case .success = begun.current { true } else { false }
      begun.settle(.failure(error ?? LiveKitError(.noMedia, "it has ended")))
      guard hasBegun || !isQuiet else { return }
      for handlers in taps.withLock({ Array($0.values) }) { handlers.end(error) }
    }
    return try CapturePipeline(
      template, factory: factory,
      CapturePipeline.Handlers(
        media: { output, media, time in
          if begun.current == nil { begun.settle(.success(())) }
          taps.withLock { $0[output] }?.media(CapturedMedia(media: media, time: time))
        }, end: { end(nil) }, failure: { end(LiveKitError($0)) }))
  }
}

private final class TemplateOutput: MediaCapture {
  private let capture: TemplateCapture
  private let output: CapturePipeline.Output

  init(capture: TemplateCapture, output: CapturePipeline.Output) { (self.capture, self.output) = (capture, output) }

  func start(_ handlers: CaptureHandlers) async throws(LiveKitError) { try await capture.add(output, handlers) }
  func stop() async { await capture.remove(output) }
}
