import GStreamerKit
import MediaCore
import MediaPipelines
import PipelineTemplates

/// One input of an output: media goes in straight, or through an encode pipeline that is joined to it.
final class OutputInput: Sendable {
  private let kind: Track.Kind
  private let source: AppSource
  private let way: Locked<(isRaw: Bool, encoder: EncodePipeline?)>
  private let factory: PipelineFactory
  private let onFailure: @Sendable (LiveKitError) -> Void

  /// Takes the appsrc of a pipeline that has not started.
  init(
    _ kind: Track.Kind, _ feed: Feed, of made: TemplatePipeline, factory: PipelineFactory, values: [String: String],
    onKeyframeNeeded: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) {
    let name = OutputPlanner.inputs[kind]?.output ?? ""
    self.kind = kind
    self.factory = factory
    self.onFailure = onFailure
    source = try LiveKitError.wrapping { () throws(PipelineFailure) in
      let source = try made.source(name)
      if let parser = feed.parser { try made.insert(parser, behind: source) }
      return source
    }
    way = Locked((feed.way != .asSent, nil))
    if let template = feed.encoder { encode(by: try encoder(template, values: values, isFirst: true)) }
    let onRequest: @Sendable () -> Void = { [weak self] in
      guard let (isRaw, encoder) = self?.way.withLock({ $0 }) else { return }
      if let encoder { encoder.requestKeyframe() } else if !isRaw { onKeyframeNeeded() }
    }
    try LiveKitError.wrapping { () throws(PipelineFailure) in
      try made.onKeyframeRequest(atSource: name, onRequest)
    }
  }

  /// An encode pipeline that is joined to this input.
  /// - Parameters:
  ///   - values: what the program derives for the template.
  ///   - isFirst: whether nothing has gone in yet. What goes on behind something else is of the same description, as
  ///     far as a multiplexer is told.
  func encoder(_ template: String, values: [String: String], isFirst: Bool) throws(LiveKitError) -> EncodePipeline {
    try EncodePipeline(
      template, for: kind, factory: factory, values: values, into: source, updatingCaps: isFirst, onFailure: onFailure)
  }

  /// From here on decoded media goes in, and is encoded.
  func encode(by encoder: EncodePipeline) { way.withLock { $0 = (true, encoder) } }

  /// Whether decoded frames or PCM go in.
  var isRaw: Bool { way.withLock { $0.isRaw } }

  /// - Parameter isFirst: of the stream. A multiplexer takes one description of it; what changes later travels within
  ///   it.
  func push(_ media: MediaBuffer, at start: Duration, isFirst: Bool = false) {
    let time = MediaTime(nanoseconds: start.nanoseconds)
    let (isRaw, encoder) = way.withLock { $0 }
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

  private var encoder: EncodePipeline? { way.withLock { $0.encoder } }
}
