package import GStreamerKit
package import MediaCore
import PipelineTemplates

/// A capture template at work: media of this machine, for whom it is made.
package final class CapturePipeline: Sendable {
  /// The agreed names of a template's sinks.
  package enum Output: String, CaseIterable, Sendable {
    case frames
    case pcm
    /// Video as the source carries it.
    case encoded
    /// Audio as the source carries it.
    case encodedAudio = "encoded-audio"

    /// What tracks are told apart by.
    package var kind: Kind { self == .frames || self == .encoded ? .video : .audio }
    package var isEncoded: Bool { self == .encoded || self == .encodedAudio }
  }

  /// What is seen, or heard.
  package enum Kind: Sendable {
    case video
    case audio
  }

  /// What comes of it, on any thread.
  package struct Handlers: Sendable {
    /// Called on a streaming thread with what was captured, and when; to return at once.
    package var media: @Sendable (Output, MediaBuffer, MediaTime) -> Void
    /// Called once all of a file has come.
    package var end: @Sendable () -> Void
    package var failure: @Sendable (PipelineFailure) -> Void
    /// Called when it is known that there is only video, or only audio.
    package var missing: @Sendable () -> Void

    package init(
      media: @escaping @Sendable (Output, MediaBuffer, MediaTime) -> Void, end: @escaping @Sendable () -> Void,
      failure: @escaping @Sendable (PipelineFailure) -> Void, missing: @escaping @Sendable () -> Void = {}
    ) {
      (self.media, self.end, self.failure, self.missing) = (media, end, failure, missing)
    }
  }

  private let made: TemplatePipeline
  private var pipeline: Pipeline { made.pipeline }
  private let passthrough: PassthroughFormats
  private let sinks: [AppSink]
  private let ends: SinkEnds
  /// A file begins at zero, whenever that is.
  private let origin: Locked<MediaTime>
  /// What the template can make.
  package let kinds: Set<Kind>

  /// What a template can make, by the names of its sinks.
  package static func kinds(of template: String, factory: PipelineFactory) throws(PipelineFailure) -> Set<Kind> {
    let text = try factory.template(.capture, template)
    // What a person has to set changes no name.
    let unset = text.variables.filter { $0.defaultValue == nil }.map { ($0.name, "1") }
    let filled = try factory.fill(text, values: Dictionary(unset) { $1 })
    return Set(filled.elements.compactMap { $0.name.flatMap(Output.init)?.kind })
  }

  /// Starts to capture, unless `start(at:)` is to.
  /// - Parameters:
  ///   - passthrough: what is not decoded, in front of what is.
  ///   - isPaced: whether what is no live source comes at its pace; else as fast as it can be read.
  package init(
    _ template: String, factory: PipelineFactory, passthrough: PassthroughFormats = PassthroughFormats(),
    isStarted: Bool = true, isPaced: Bool = true, _ handlers: Handlers
  ) throws(PipelineFailure) {
    let made = try factory.make(.capture, template, values: passthrough.values)
    let (origin, ends) = (Locked(MediaTime.now), SinkEnds())
    (self.made, self.origin, self.passthrough, self.ends) = (made, origin, passthrough, ends)
    let outputs = Output.allCases.filter { made.pipeline.hasElement($0.rawValue) }
    kinds = Set(outputs.map(\.kind))
    made.pipeline.setOrigin(origin.withLock { $0 })
    let unlinked = Locked(0)
    var sinks: [AppSink] = []
    for output in outputs {
      // An element called so is an appsink, which has it, or fails below.
      if !isPaced { try? made.pipeline.element(named: output.rawValue).set("sync", to: false) }
      let sink = try made.sink(
        output.rawValue,
        onBuffer: { media in
          // A byte stream without a container says when frames are decoded; without B-frames they are shown then.
          guard let time = media.pts ?? media.dts else { return }
          handlers.media(output, media, origin.withLock { $0 } + .nanoseconds(time.nanoseconds))
        }, onEnd: { if ends.end(of: output) { handlers.end() } })
      ends.add(sink, output)
      sinks.append(sink)
    }
    self.sinks = sinks
    made.pipeline.onSourceEnd { ends.endSource(handlers.end) }
    try Self.leaveOutMisfits(made)
    try Self.pace(made)
    made.pipeline.onMessage { [template = made.template] message in
      switch message {
      case .error(let error): handlers.failure(PipelineFailure(error, in: template))
      case .endOfStream: handlers.end()
      // Of a pad in the template which what was opened does not have; only the words for developers are always these.
      case .warning(let warning) where warning.debug?.contains("failed delayed linking") == true:
        let missing = unlinked.withLock { count in
          count += 1
          return count
        }
        if missing >= outputs.count - 1 { handlers.missing() }
      default: break
      }
    }
    guard isStarted else { return }
    try made.start()
    watchDisplay(onFailure: handlers.failure)
  }

  /// PipeWire's source keeps the caps that it had first (0.3.65), whatever becomes of the size of a window or a screen.
  private static func leaveOutMisfits(_ made: TemplatePipeline) throws(PipelineFailure) {
    guard made.pipeline.factories.contains("pipewiresrc"), made.pipeline.hasElement("paced") else { return }
    do { try made.pipeline.leaveOutMisfits(into: "paced") } catch { throw PipelineFailure(error, in: made.template) }
  }

  /// Leaves out frames beyond the rate that a template declares for Swift, in front of its element `paced`: before they are
  /// converted. Without that element nothing is.
  private static func pace(_ made: TemplatePipeline) throws(PipelineFailure) {
    guard let rate = made.template.declared["framerate"], made.pipeline.hasElement("paced") else { return }
    guard let limit = FrameRateLimit(fraction: rate) else {
      throw PipelineFailure(.value, "'\(rate)' is no value for `framerate`: give a fraction, such as 15/1")
    }
    let state = Locked(limit)
    do {
      try made.pipeline.leaveOut(into: "paced") { time in !state.withLock { $0.takes(time) } }
    } catch {
      throw PipelineFailure(error, in: made.template)
    }
  }

  /// Starts to capture at a place in a file.
  /// - Throws: where it has no such place.
  package func start(at position: Duration) async throws(PipelineFailure) {
    do throws(PipelineError) {
      try await made.pipeline.prepare()
      if let duration = pipeline.duration, duration <= position {
        throw PipelineError(.stream, "it is \(duration.seconds) s long, and cannot begin after \(position.seconds) s")
      }
      // Of a file without audio nothing is linked to the sinks for audio.
      guard sinks.contains(where: { $0.seek(to: position, fromKeyframe: !passthrough.video.isEmpty) }) else {
        throw PipelineError(.stream, "it can be played from its beginning only")
      }
    } catch {
      throw PipelineFailure(error, in: made.template)
    }
    origin.withLock { $0 = .now }
    made.pipeline.setOrigin(origin.withLock { $0 })
    try made.start()
  }

  /// Whether what is captured is known to end: a file, wherever it is, and nothing live.
  package var hasLength: Bool { pipeline.duration.map { $0 > .zero } ?? false }

  /// The device is let go of, and nothing comes any more, when it returns.
  package func stop() async {
    ends.stop()
    let display = display.withLock { $0 }
    display.watch?.forget()
    // A pipeline of a display that is gone waits in vain for a thread that is kept.
    if display.isLost { pipeline.stop { _ in } } else { await pipeline.stop() }
  }

  // MARK: Screens

  private struct Display {
    var watch: DisplayLoss.Watch?
    var isLost = false
  }
  private let display = Locked(Display())

  /// Without it Xlib ends the process when the display goes.
  private func watchDisplay(onFailure: @escaping @Sendable (PipelineFailure) -> Void) {
    guard pipeline.factories.contains("ximagesrc") else { return }
    let watch = DisplayLoss.watch { [weak self] reason in
      if reason == .connection { self?.display.withLock { $0.isLost = true } }
      let what = reason == .connection ? "the display is gone" : "the display shows the window no more"
      onFailure(PipelineFailure(.pipeline, what))
    }
    display.withLock { $0.watch = watch }
  }
}

/// Which sinks have come to their end. GStreamer tells of that of the pipeline once all sinks have, and to one for audio
/// nothing ever comes where there is none in the file.
private final class SinkEnds: Sendable {
  private struct State {
    var sinks: [CapturePipeline.Output: AppSink] = [:]
    var ended: Set<CapturePipeline.Output> = []
    /// Runs once the source has ended.
    var watch: Task<Void, Never>?
    /// Whether the pipeline stops, and so has no formats any more.
    var isStopped = false
  }
  private let state = Locked(State())

  /// What has come of a source is known to its sinks long before that.
  private static let patience = Duration.seconds(3)

  func add(_ sink: AppSink, _ output: CapturePipeline.Output) { state.withLock { $0.sinks[output] = sink } }

  /// A demuxer that knows no stream yet hands the end of its source on to nobody.
  /// - Parameter tell: called where it has done so.
  func endSource(_ tell: @escaping @Sendable () -> Void) {
    let watch = Task { [weak self] in
      try? await Task.sleep(for: Self.patience)
      if self?.areUnlinked == true { tell() }
    }
    state.withLock { $0.watch = watch }
  }

  private var areUnlinked: Bool {
    let state = state.withLock { $0 }
    return !state.isStopped && state.sinks.values.allSatisfy { $0.caps == nil }
  }

  /// The end of a source is told to nobody from now on.
  func stop() {
    let watch = state.withLock { state in
      state.isStopped = true
      return state.watch
    }
    watch?.cancel()
  }

  /// - Returns: whether nothing more comes of any.
  func end(of output: CapturePipeline.Output) -> Bool {
    let rest = state.withLock { state in
      state.ended.insert(output)
      return state.sinks.filter { !state.ended.contains($0.key) }
    }
    // What is linked has a format before it has media.
    return rest.values.allSatisfy { $0.caps == nil }
  }
}
