package import GStreamerKit
package import MediaCore
import PipelineTemplates

/// A capture template at work: raw media of this machine, for whom it is made.
package final class CapturePipeline: Sendable {
  /// The agreed names of a template's sinks.
  package enum Output: String, CaseIterable, Sendable {
    case frames
    case pcm
  }

  /// What comes of it, on any thread.
  package struct Handlers: Sendable {
    /// Called on a streaming thread with what was captured, and when; to return at once.
    package var media: @Sendable (Output, MediaBuffer, MediaTime) -> Void
    /// Called once all of a file has come.
    package var end: @Sendable () -> Void
    package var failure: @Sendable (PipelineFailure) -> Void

    package init(
      media: @escaping @Sendable (Output, MediaBuffer, MediaTime) -> Void, end: @escaping @Sendable () -> Void,
      failure: @escaping @Sendable (PipelineFailure) -> Void
    ) {
      (self.media, self.end, self.failure) = (media, end, failure)
    }
  }

  private let pipeline: Pipeline
  /// What the template makes.
  package let outputs: Set<Output>

  /// What a template makes, by the names of its sinks.
  package static func outputs(of template: String, factory: PipelineFactory) throws(PipelineFailure) -> Set<Output> {
    let filled = try factory.fill(.capture, template, values: [:])
    return Set(filled.elements.compactMap { $0.name.flatMap(Output.init) })
  }

  /// Starts to capture.
  package init(_ template: String, factory: PipelineFactory, _ handlers: Handlers) throws(PipelineFailure) {
    let made = try factory.make(.capture, template)
    pipeline = made.pipeline
    outputs = Set(Output.allCases.filter { made.pipeline.hasElement($0.rawValue) })
    // A file begins at zero, whenever that is.
    let origin = MediaTime.now
    made.pipeline.setOrigin(origin)
    for output in outputs {
      try made.sink(output.rawValue) { media in
        guard let time = media.pts else { return }
        handlers.media(output, media, origin + .nanoseconds(time.nanoseconds))
      }
    }
    made.pipeline.onMessage { [template = made.template] message in
      switch message {
      case .error(let error): handlers.failure(PipelineFailure(error, in: template))
      case .endOfStream: handlers.end()
      default: break
      }
    }
    try made.start()
  }

  /// The device is let go of, and nothing comes any more, when it returns.
  package func stop() async { await pipeline.stop() }
}
