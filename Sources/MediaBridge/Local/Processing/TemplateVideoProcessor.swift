import MediaCore
import MediaPipelines
import PipelineTemplates

/// Has a pipeline process frames: a template of the kind `process`, such as `blur`, `faces-blurred`, `logo`, `crop` and
/// `text`, or one of your own. For one track.
///
/// The pipeline runs from the first frame on until the track is muted or stopped or has another processor. Where it fails
/// nothing is sent any more, and ``failure`` says why: a frame is never shown as it was captured. Unmuting the track begins
/// anew.
public final class TemplateVideoProcessor: VideoProcessor {
  private enum State {
    case paused
    case running(ProcessPipeline)
    case failed(LiveKitError, ProcessPipeline?)

    var pipeline: ProcessPipeline? {
      switch self {
      case .paused: nil
      case .running(let pipeline): pipeline
      case .failed(_, let pipeline): pipeline
      }
    }
  }

  /// The name of the template.
  public let template: String
  private let filled: FilledTemplate
  private let factory: PipelineFactory
  private let state = Locked(State.paused)
  /// One frame at a time, whoever calls.
  private let turn = Locked(())

  /// - Parameters:
  ///   - template: the name of a process template.
  ///   - values: for its variables, by name.
  ///   - pipelineFolder: searched before the usual places.
  /// - Throws: `template` for one that there is not or that has a mistake, `invalidParameter` for a variable that it has
  ///   not, `missingElement` with the Debian package of what is not installed, `pipeline` where it cannot run, such as for an
  ///   image that is not there.
  public init(
    template: String, values: [String: String] = [:], pipelineFolder: String? = nil
  ) throws(LiveKitError) {
    let factory = PipelineFactory(folder: pipelineFolder, overrides: values)
    (self.template, self.factory) = (template, factory)
    filled = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try factory.check([TemplateName(.process, template)])
      return try ProcessPipeline.fill(template, factory: factory)
    }
  }

  /// Why nothing comes of frames any more; nil while something does.
  public var failure: LiveKitError? {
    state.withLock { if case .failed(let error, _) = $0 { error } else { nil } }
  }

  /// - Returns: what the pipeline has made of it, upright; nil once it has failed, and where the template leaves it out.
  public func process(frame: VideoFrame) -> VideoFrame? {
    turn.withLock { _ in
      do throws(LiveKitError) {
        guard let pipeline = try running() else { return nil }
        let processed = try LiveKitError.wrapping { () throws(PipelineFailure) in
          try pipeline.process(frame.buffer.media, at: frame.time)
        }
        return processed.flatMap { VideoFrame(CapturedMedia(media: $0, time: frame.time)) }
      } catch {
        state.withLock { $0 = .failed(error, $0.pipeline) }
        return nil
      }
    }
  }

  private func running() throws(LiveKitError) -> ProcessPipeline? {
    switch state.withLock({ $0 }) {
    case .running(let pipeline): return pipeline
    case .failed: return nil
    case .paused:
      let pipeline = try LiveKitError.wrapping { () throws(PipelineFailure) in
        try ProcessPipeline(filled, factory: factory)
      }
      state.withLock { $0 = .running(pipeline) }
      return pipeline
    }
  }

  /// Ends the pipeline.
  public func pause() async {
    let pipeline = state.withLock { state in
      defer { state = .paused }
      return state.pipeline
    }
    await pipeline?.stop()
  }
}
