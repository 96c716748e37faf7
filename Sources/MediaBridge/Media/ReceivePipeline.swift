import GStreamerKit
import MediaCore
import RTP

/// One receive template at work on the packets of one track.
final class ReceivePipeline: Sendable {
  /// Which of the agreed outputs the template is asked for.
  enum Output: String, Sendable {
    case frames
    case pcm
    case encoded
  }

  let pipeline: Pipeline
  private let source: AppSource

  /// - Parameters:
  ///   - payloadType: of the packets; the jitter buffer wants to know.
  ///   - orientationID: the header element of packets that says how pictures are to be turned.
  ///   - clock: from RTP timestamps to our time; called on a streaming thread.
  ///   - onKeyframeNeeded: called on a streaming thread.
  ///   - onBuffer: called on a streaming thread, in order; never after `stop()`.
  init(
    factory: PipelineFactory, template: String, output: Output, payloadType: PayloadType, latency: Int?,
    orientationID: UInt8? = nil, clock: @escaping @Sendable (UInt32) -> MediaTime?,
    onKeyframeNeeded: @escaping @Sendable () -> Void,
    onFailure: @escaping @Sendable (LiveKitError) -> Void, onBuffer: @escaping @Sendable (MediaBuffer) -> Void
  ) throws(LiveKitError) {
    let made = try factory.make(.receive, template, values: latency.map { ["latency": String($0)] } ?? [:])
    pipeline = made.pipeline
    source = try made.source("rtp")
    try made.sink(output.rawValue, onBuffer: onBuffer)
    try made.onKeyframeRequest(atSource: "rtp", onKeyframeNeeded)
    made.onFailure(onFailure)
    // A text without an element of that name keeps GStreamer's own times, and pictures as they come.
    if pipeline.hasElement("jitter") {
      try? pipeline.retimestamp(elementNamed: "jitter", clock)
      if let orientationID {
        try? pipeline.tagOrientation(elementNamed: "jitter") { RTPPacket.quarterTurns(in: $0, orientationID) }
      }
    }
    if let caps = source.acceptedCaps, caps.int("payload") == nil {
      Caps("\(caps), payload=(int)\(payloadType)").map(source.set(caps:))
    }
    try made.start()
  }

  /// Packets of one picture come together: one by one they would wake the pipeline's threads for each, which costs more
  /// than what they do with it.
  func push(_ packets: [AppSource.Packet]) { source.push(packets) }

  /// No buffer comes after it returned.
  func stop() async { await pipeline.stop() }
}
