/// Changes the frames of a ``LocalVideoTrack`` before they are seen here or sent: blurs, draws, cuts.
public protocol VideoProcessor: AnyObject, Sendable {
  /// Called for one frame after the other, on a thread that nobody else waits for. Frames that come while it is busy wait;
  /// of more than two the oldest is dropped.
  /// - Parameter frame: as it was captured: `rotation` says how it has to be turned to be upright.
  /// - Returns: what is seen and sent instead, of any size, at the time of `frame`; nil for nothing.
  func process(frame: VideoFrame) -> VideoFrame?

  /// No frame comes for now: the track is muted or stopped, or has another processor. Lets go of what takes memory or
  /// threads; the next frame may bring it back. Does nothing unless it is implemented.
  func pause() async

  /// Why it returns no frames any more; the track is told as ended with it then. nil unless it is implemented.
  var failure: LiveKitError? { get }
}

extension VideoProcessor {
  public func pause() async {}
  public var failure: LiveKitError? { nil }
}

/// Several processors, one after the other.
public final class VideoProcessorChain: VideoProcessor {
  /// In the order in which a frame goes through them.
  public let processors: [any VideoProcessor]

  /// - Parameter processors: none leaves frames as they are.
  public init(_ processors: [any VideoProcessor]) { self.processors = processors }

  /// Nothing once one of them returns nothing.
  public func process(frame: VideoFrame) -> VideoFrame? {
    var processed = frame
    for processor in processors {
      guard let next = processor.process(frame: processed) else { return nil }
      processed = next
    }
    return processed
  }

  public func pause() async {
    for processor in processors { await processor.pause() }
  }

  public var failure: LiveKitError? { processors.lazy.compactMap(\.failure).first }
}
