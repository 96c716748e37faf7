import Dispatch
package import GStreamerKit
package import MediaCore
package import PipelineTemplates

/// A process template at work: one frame in, and what becomes of it out.
package final class ProcessPipeline: Sendable {
  private struct State {
    /// The newest that has come out.
    var processed: MediaBuffer?
    var failure: PipelineFailure?
    var isStopped = false
    /// Of what went in last, as it comes out.
    var size: PixelSize?

    mutating func takeProcessed() -> MediaBuffer? {
      defer { processed = nil }
      return isStopped ? nil : processed
    }
  }

  private let made: TemplatePipeline
  private let source: AppSource
  private let fitting: FrameFitting
  /// Whether what comes out is upright, however it went in.
  private let isTurning: Bool
  private let state: Locked<State>
  /// Signalled when a frame has gone through, and when none does any more.
  private let through: DispatchSemaphore

  /// Generous: it is only for elements that hang.
  private static let limit = Duration.seconds(10)

  /// A template with its values, once it has been run without a frame: that shows what its elements refuse.
  package static func fill(_ template: String, factory: PipelineFactory) throws(PipelineFailure) -> FilledTemplate {
    let filled = try factory.fill(.process, template, values: [:])
    guard filled.elements.contains(where: { $0.name == "frames" }) else {
      throw PipelineFailure(.template, "\(filled.file): there is no appsrc called frames, so that it is not for video")
    }
    let trial = try factory.make(filled)
    defer { trial.pipeline.stop { _ in } }
    try trial.start()
    return filled
  }

  /// Starts it.
  package init(_ template: FilledTemplate, factory: PipelineFactory) throws(PipelineFailure) {
    let (made, state, through) = (try factory.make(template), Locked(State()), DispatchSemaphore(value: 0))
    (self.made, self.state, self.through) = (made, state, through)
    source = try made.source("frames")
    isTurning = template.isTurning
    fitting = FrameFitting(overlayName: "label") { $0 == "size" ? try? made.pipeline.element(named: $0) : nil }
    Self.showAsItIs(made.pipeline)
    try made.sink(
      "processed", onBuffer: { media in state.withLock { $0.processed = media } }, onMark: { through.signal() })
    made.onFailure { failure in
      state.withLock { $0.failure = $0.failure ?? failure }
      through.signal()
    }
    try made.start()
  }

  /// What a person has set is no mark-up of Pango's.
  private static func showAsItIs(_ pipeline: Pipeline) {
    guard let label = try? pipeline.element(named: "label"), let text = label.string("text") else { return }
    try? label.set("text", to: PangoText.quoted(text))
  }

  /// Returns when the frame has gone through. One call at a time.
  /// - Returns: the newest frame that has come out since the last call; nil for none.
  /// - Throws: why it does not go on, from then on each time.
  package func process(_ frame: MediaBuffer, at time: MediaTime) throws(PipelineFailure) -> MediaBuffer? {
    fit(frame)
    source.push(frame, pts: time, dts: time)
    source.pushMark()
    let isThrough = through.wait(timeout: .now() + .nanoseconds(Int(Self.limit.nanoseconds))) == .success
    // What is let go of is let go of outside of the lock.
    let (processed, failure) = state.withLock { state in
      if !isThrough, state.failure == nil {
        state.failure = PipelineFailure(.pipeline, "\(made.template.file): nothing has become of it in \(Self.limit)")
      }
      return (state.takeProcessed(), state.isStopped ? nil : state.failure?.at(state.size))
    }
    if let failure { throw failure }
    return isTurning ? processed?.upright : processed
  }

  /// Nothing is under way in it: what it is told holds from the next frame on.
  private func fit(_ frame: MediaBuffer) {
    guard let size = size(of: frame) else { return }
    if state.set(\.size, to: size) { fitting.fit(into: size, .contain) }
  }

  private func size(of media: MediaBuffer) -> PixelSize? {
    guard let frame = VideoFrameBuffer(media) else { return nil }
    let isAcross = isTurning && media.quarterTurns % 2 == 1
    return PixelSize(width: isAcross ? frame.height : frame.width, height: isAcross ? frame.width : frame.height)
  }

  /// A frame that is under way comes to nothing.
  package func stop() async {
    state.withLock { $0.isStopped = true }
    through.signal()
    await made.pipeline.stop()
  }
}

extension PipelineFailure {
  /// With the size of the frame that it failed at, which mostly is the reason.
  fileprivate func at(_ size: PixelSize?) -> PipelineFailure {
    guard kind == .pipeline, let size else { return self }
    return PipelineFailure(
      kind, "a frame of \(size.width)x\(size.height) cannot be processed: \(message)", underlying: underlying)
  }
}

extension FilledTemplate {
  fileprivate var isTurning: Bool {
    elements.contains { element in
      element.factory == "videoflip" && element.properties.contains { ["auto", "automatic"].contains($0.value) }
    }
  }
}
