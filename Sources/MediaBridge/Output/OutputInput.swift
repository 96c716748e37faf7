import GStreamerKit
import MediaCore
import PipelineTemplates

/// One input of an output: media goes in straight, or through an encode pipeline that is joined to it.
final class OutputInput: Sendable {
  let kind: Track.Kind
  let feed: Feed
  private let source: AppSource
  private let encoder: EncodePipeline?

  /// Takes the appsrc of a pipeline that has not started.
  init(
    _ kind: Track.Kind, _ feed: Feed, of made: TemplatePipeline, factory: PipelineFactory, values: [String: String],
    onKeyframeNeeded: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) {
    let name = OutputPlanner.inputs[kind]?.output ?? ""
    self.kind = kind
    self.feed = feed
    let source = try made.source(name)
    self.source = source
    if let parser = feed.parser { try made.insert(parser, behind: source) }
    encoder = try feed.encoder.map { text throws(LiveKitError) in
      try EncodePipeline(text, for: kind, factory: factory, values: values, into: source, onFailure: onFailure)
    }
    try made.onKeyframeRequest(atSource: name) { [weak encoder] in
      if let encoder { encoder.requestKeyframe() } else if feed.way == .asSent { onKeyframeNeeded() }
    }
  }

  /// Whether decoded frames or PCM go in.
  var isRaw: Bool { feed.way != .asSent }

  /// - Parameter isFirst: of the stream. A multiplexer takes one description of it; what changes later travels within it.
  func push(_ media: MediaBuffer, at start: Duration, isFirst: Bool = false) {
    let time = MediaTime(nanoseconds: start.nanoseconds)
    let updatingCaps = kind == .video && (isRaw || isFirst)
    if let encoder { return encoder.push(media, at: time, updatingCaps: updatingCaps) }
    source.push(media, pts: time, dts: time, updatingCaps: updatingCaps)
  }

  /// The format of what is pushed, before the first of it.
  func set(caps: Caps) { if let encoder { encoder.set(caps: caps) } else { source.set(caps: caps) } }

  /// What waits to be written.
  var queued: Int { source.queuedBuffers + (encoder?.queued ?? 0) }

  /// How much of the room for what is yet to be written is taken, 0…1.
  var fullness: Double { source.fullness }

  /// Dropped because the machine did not keep up with encoding or writing.
  var dropped: Int { source.counters.dropped + (encoder?.dropped ?? 0) }

  func drain() async throws(PipelineError) { try await encoder?.drain() }
  func stop() async { await encoder?.stop() }
}
