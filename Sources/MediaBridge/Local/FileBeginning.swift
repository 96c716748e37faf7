import GStreamerKit
import MediaCore
import MediaPipelines

/// What the beginning of a file shows of its video, read as fast as it can be, before any of it is sent.
struct FileBeginning {
  enum Finding: Sendable {
    /// It can be sent as it is, as far as it was read.
    case fits
    /// It is in a codec that is always decoded.
    case raw
    /// Why it cannot be sent as it is.
    case obstacle(String)
  }

  let template: String
  let factory: PipelineFactory
  let passthrough: PassthroughFormats
  /// Where in the file it begins.
  let start: Duration

  /// Of media.
  private static let length = Duration.seconds(20)
  private static let patience = Duration.seconds(3)

  /// What cannot be read is told once it is captured.
  func read() async -> Finding {
    let found = Outcome<Finding, LiveKitError>()
    guard
      let scan = try? CapturePipeline(
        template, factory: factory, passthrough: passthrough, isStarted: start == .zero, isPaced: false,
        handlers(found))
    else { return .fits }
    if start > .zero { try? await scan.start(at: start) }
    let slow = LiveKitError(.timedOut, "the file is read slowly")
    let finding = try? await found.value(within: Self.patience, else: slow)
    await scan.stop()
    return finding ?? .fits
  }

  private func handlers(_ found: Outcome<Finding, LiveKitError>) -> CapturePipeline.Handlers {
    let watch = Locked(StreamWatch())
    return CapturePipeline.Handlers(
      media: { output, media, time in
        guard output.kind == .video, found.current == nil else { return }
        let captured = CapturedMedia(media: media, time: time, isEncoded: output.isEncoded)
        guard let stream = CarriedStream(captured) else { return found.settle(.success(.raw)) }
        let reason = stream.obstacle(accepted: Passthrough.possible.video) ?? watch.withLock { $0.note(captured) }
        if let reason { return found.settle(.success(.obstacle(reason))) }
        if watch.withLock({ $0.length }) >= Self.length { found.settle(.success(.fits)) }
      }, end: { found.settle(.success(.fits)) }, failure: { found.settle(.failure(LiveKitError($0))) })
  }
}
