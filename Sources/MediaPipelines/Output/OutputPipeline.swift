package import GStreamerKit
import MediaCore
package import PipelineTemplates

/// An output template at work: media goes into its inputs at times since its beginning, and it ends in a file or a stream
/// that is complete. What goes into files goes there in batches, up to 200 ms later than it came; all else goes on at
/// once.
package final class OutputPipeline: Sendable {
  /// How one of the template's appsrcs is fed.
  package struct Input: Sendable {
    /// Puts what comes into the stream format that the template takes; nil where it fits.
    package var parser: String?
    /// The format of all that comes; nil to go by what comes first.
    package var caps: Caps?
    /// Whether a format that changes is told. Most multiplexers take one description of a stream: what changes later
    /// travels within it. Those that take another one are told of it in any case.
    package var followsFormat: Bool
    /// How often a frame goes in, what comes in between being left out; nil for all.
    package var interval: Duration?
    /// Whether nothing may come for any time, and the others do not wait for it.
    package var isSparse = false
    /// What players call the track; nil for nothing.
    package var title: String?
    /// Whether they call the file so.
    package var isTitleOfFile = false

    /// - Parameter parser: puts what comes into the stream format that the template takes.
    package init(parser: String? = nil, caps: Caps? = nil, followsFormat: Bool = false, interval: Duration? = nil) {
      self.parser = parser
      self.caps = caps
      self.followsFormat = followsFormat
      self.interval = interval
    }
  }

  private struct Source: Sendable {
    let element: AppSource
    let input: Input
    /// Whether a format that changes is told.
    let followsFormat: Bool

    /// Whether the format of what is pushed next is told.
    var updatesCaps: Bool { followsFormat || (input.caps == nil && element.counters.buffers == 0) }
  }

  private let made: TemplatePipeline
  private let sources: [String: Source]
  private let pipeline: Pipeline
  /// Nil where each buffer goes on at once.
  private let batch = Locked<WriteBatch<AppSource.Waiting>?>(nil)
  private let isSegmented: Bool
  private let isLive: Bool
  /// By input.
  private let standIns = Locked<[String: MediaBuffer]>([:])
  /// Of inputs that do not take all.
  private let intervals: Locked<[String: FrameInterval]>
  /// Nil where any size will do.
  private let size: Locked<SizeWatch>?
  private let onSizeChange: @Sendable () -> Void

  /// - Parameters:
  ///   - inputs: by the name of the appsrc.
  ///   - voices: the numbers of the audio inputs beside the first, in the order of their tracks.
  ///   - unused: the names of those that get nothing, which are taken out.
  ///   - isLive: whether it goes to a server, to which what comes late is of no use.
  ///   - onKeyframeNeeded: told the input behind which something asks for a keyframe, on any thread.
  ///   - onSegmentData: gets what comes out at the appsink `segments`, on its streaming thread; nil for a template without.
  ///   - onSizeChange: told once that video which is encoded goes on in a size that not all players find, on the thread
  ///     that pushes it.
  ///   - onFailure: told when the pipeline fails while it runs, on the thread that all pipelines share.
  package init(
    _ template: FilledTemplate, inputs: [String: Input], voices: [Int] = [], unused: [String], isLive: Bool = false,
    factory: PipelineFactory, onKeyframeNeeded: @escaping @Sendable (String) -> Void,
    onSegmentData: (@Sendable (MediaBuffer) -> Void)? = nil, onSizeChange: @escaping @Sendable () -> Void = {},
    onFailure: @escaping @Sendable (PipelineFailure) -> Void
  ) throws(PipelineFailure) {
    made = try factory.make(
      template, template.description(withAudio: voices, captions: inputs.keys.contains(CaptionInput.name)))
    pipeline = made.pipeline
    for name in unused where pipeline.hasElement(name) { try made.removeBranch(from: name) }
    (self.isLive, isSegmented) = (isLive, onSegmentData != nil)
    self.onSizeChange = onSizeChange
    size = template.saysOneSize ? Locked(SizeWatch()) : nil
    if let onSegmentData { try made.sink("segments", onBuffer: onSegmentData) }
    var sources: [String: Source] = [:]
    for (name, input) in inputs {
      let source = try made.source(name)
      if let parser = input.parser { try made.insert(parser, behind: source) }
      if let caps = input.caps { source.set(caps: caps) }
      if let title = input.title { source.set(title: title, isOfAll: input.isTitleOfFile) }
      try made.onKeyframeRequest(atSource: name) { onKeyframeNeeded(name) }
      let isTold = input.followsFormat || (input.caps == nil && template.takesAnotherFormat)
      sources[name] = Source(element: source, input: input, followsFormat: isTold)
    }
    self.sources = sources
    intervals = Locked(inputs.compactMapValues { $0.interval.map(FrameInterval.init) })
    // The tracks come with times of their own, which no clock is asked about. Of several sinks, though, each would wait until
    // all others have something.
    if pipeline.sinkCount == 1 { for source in sources.values { source.element.setPatient() } }
    for source in sources.values where source.input.isSparse { source.element.pushGap() }
    made.onFailure(onFailure)
  }

  /// - Throws: what keeps it from its beginning, such as a file that cannot be opened.
  package func start() throws(PipelineFailure) {
    try made.start()
    // Raw frames are large, and their memory is the decoder's. A batch has one format.
    guard isSegmented || pipeline.writesOnlyFiles, !sources.values.contains(where: \.followsFormat) else { return }
    let limit = sources.values.map(\.element.batchLimit).min() ?? 0
    batch.withLock { $0 = limit > 1 ? WriteBatch(limit: limit) : nil }
  }

  /// Called by one thread at a time.
  /// - Parameters:
  ///   - input: the name of the appsrc; what is for another one is dropped.
  ///   - time: since the pipeline's beginning.
  package func push(_ media: MediaBuffer, into input: String, at time: Duration, decodedAt dts: Duration? = nil) {
    guard let source = sources[input], passes(input, at: time) else { return }
    if let size, input == "video", size.withLock({ $0.isOther(media.caps) }) { onSizeChange() }
    let waiting = AppSource.Waiting(
      media, pts: MediaTime(nanoseconds: time.nanoseconds), dts: MediaTime(nanoseconds: (dts ?? time).nanoseconds))
    guard let batch = batch.withLock({ $0?.add(waiting, of: input, at: time) }) else {
      source.element.push(media, pts: waiting.pts, dts: waiting.dts, updatingCaps: source.updatesCaps)
      return
    }
    push(batch)
  }

  /// For a sparse input, which takes no part in batches; by any thread.
  package func push(sparse media: MediaBuffer, into input: String, at time: Duration) {
    guard let source = sources[input], source.input.isSparse else { return }
    let time = MediaTime(nanoseconds: time.nanoseconds)
    source.element.push(media, pts: time, dts: time, updatingCaps: false)
    source.element.pushGap()
  }

  private func passes(_ input: String, at time: Duration) -> Bool {
    sources[input]?.input.interval == nil || intervals.withLock { $0[input]?.passes(at: time) ?? true }
  }

  private func push(_ batch: [String: [AppSource.Waiting]]) {
    for (input, waiting) in batch {
      guard let source = sources[input] else { continue }
      source.element.push(waiting, updatingCaps: source.updatesCaps)
    }
  }

  /// How much of an input's room is taken, 0…1.
  /// - Parameter others: buffers that wait for the pipeline elsewhere.
  package func fullness(of input: String, besides others: Int = 0) -> Double {
    let waiting = others + batch.withLock { $0?.count(of: input) ?? 0 }
    return sources[input]?.element.fullness(with: waiting) ?? 0
  }

  /// What each input has dropped because writing did not keep up.
  package var dropped: [String: Int] { sources.mapValues(\.element.counters.dropped) }

  /// Buffers that the pipeline has taken, and those that it has not taken yet.
  package var load: (taken: Int, waiting: Int) {
    sources.values.reduce((0, 0)) { sum, source in
      let (counters, waiting) = (source.element.counters, source.element.queuedBuffers)
      return (sum.0 + counters.buffers - counters.dropped - waiting, sum.1 + waiting)
    }
  }

  /// How long one is waited for in which nothing moves.
  package static let usualPatience = Duration.seconds(10)

  /// Writes what the output needs to be complete. Nothing is pushed any more.
  /// - Parameter limit: the longest wait in which nothing moves; of what is live, the longest wait.
  /// - Throws: why it is not.
  package func complete(within limit: Duration = OutputPipeline.usualPatience) async throws(PipelineFailure) {
    push(batch.withLock { $0?.take() ?? [:] })
    pushStandIns()
    let (elements, isLive) = (sources.values.map(\.element), isLive)
    do throws(PipelineError) {
      // A server that is slow could take minutes for what waits, and whoever watches has gone by then.
      try await pipeline.sendEndOfStream(timeLimit: limit) {
        isLive ? 0 : elements.reduce(0) { $0 + $1.queuedBuffers }
      }
    } catch {
      throw incompleteness(error)
    }
  }

  private func incompleteness(_ error: PipelineError) -> PipelineFailure {
    let failure = ConnectionFailure(error, in: made.template)
    let message = isLive && error.kind == .timeLimit ? untaken : error.message
    return PipelineFailure(.destination, failure?.message ?? message, underlying: failure ?? error)
  }

  private var untaken: String {
    let rest = sources.values.map(\.element.queuedTime).max() ?? .zero
    return "its server did not take the last \(max(1, Int(rest.seconds.rounded(.up)))) s"
  }

  /// What goes in where nothing else has when it is completed: a file with a track of which nothing is known does not play.
  package func standIn(_ media: [String: MediaBuffer]) { standIns.withLock { $0 = media } }

  private func pushStandIns() {
    guard sources.values.contains(where: { $0.element.counters.buffers > 0 }) else { return }
    for (input, media) in standIns.withLock({ $0 }) {
      guard let source = sources[input], source.element.counters.buffers == 0 else { continue }
      let start = MediaTime(nanoseconds: 0)
      source.element.push(media, pts: start, dts: start, updatingCaps: source.updatesCaps)
    }
  }

  /// - Returns: whether no thread of it is left; false where an element hangs, as one that writes to a disk that does.
  @discardableResult
  package func stop() async -> Bool { await pipeline.stop() }
}
