package import GStreamerKit
package import MediaCore
package import PipelineTemplates

/// A mix template at work: inputs come and go while it runs, and what they are mixed to comes out at the pace that the
/// template says, whether they bring something or not. Times of what goes in and comes out are `MediaTime`s.
package final class MixPipeline: Sendable {
  /// The agreed name of what mixes frames.
  package static let videoMixer = "videomix"
  /// The agreed name of what mixes audio.
  package static let audioMixer = "audiomix"
  /// The agreed name of what shows an image above all tiles.
  static let logo = "logo"

  private let made: TemplatePipeline
  /// Found before there are tiles, which have one of that name, too.
  private let caption: FrameCaption?
  /// Of frames.
  private let pace: Locked<MixPace>?
  /// Of tiles.
  private let changes = Locked(FrameChanges<MixTile.Step>())
  /// How long after it was a moment is mixed, by the mixer's `latency`.
  package let delay: Duration

  /// - Parameters:
  ///   - template: of the kind `mix`.
  ///   - captions: called on a streaming thread for the lines of what is said at a moment, which are written over the next
  ///     frame; to return at once.
  ///   - onBuffer: called on a streaming thread with what comes out; to return at once.
  ///   - onFailure: told when the pipeline fails while it runs, on the thread that all pipelines share.
  package init(
    _ template: FilledTemplate, factory: PipelineFactory,
    captions: @escaping @Sendable (MediaTime) -> String = { _ in "" },
    onBuffer: @escaping @Sendable (MediaBuffer) -> Void, onFailure: @escaping @Sendable (PipelineFailure) -> Void
  ) throws(PipelineFailure) {
    made = try factory.make(template)
    let isVideo = made.pipeline.hasElement(Self.videoMixer)
    do throws(PipelineError) {
      let element = isVideo ? try? made.pipeline.element(named: Caption.element) : nil
      caption = try element.map { (element) throws(PipelineError) in try FrameCaption(element) }
    } catch { throw PipelineFailure(error, in: template) }
    let mixer = try? made.pipeline.element(named: isVideo ? Self.videoMixer : Self.audioMixer)
    delay = .nanoseconds(mixer?.int("latency") ?? 0)
    pace = isVideo ? Locked(MixPace(delay: delay)) : nil
    try take(captions, onBuffer)
    made.onFailure(onFailure)
  }

  /// An image above all tiles, which the template's element `logo` draws. Call it before `start()`.
  /// - Parameters:
  ///   - file: an image.
  ///   - opacity: from 0 to 1.
  package func show(logo file: String, at place: TilePlace, opacity: Double) throws(PipelineFailure) {
    let values = [
      ("location", file), ("alpha", "\(opacity)"),
      ("offset-x", "\(place.x)"), ("offset-y", "\(place.y)"),
      ("overlay-width", "\(place.width)"), ("overlay-height", "\(place.height)"),
    ]
    do throws(PipelineError) {
      let logo = try made.pipeline.element(named: Self.logo)
      for (property, value) in values { try logo.set(property, to: value) }
    } catch { throw PipelineFailure(error, in: made.template) }
  }

  /// What people are told above all tiles, from the next frame on, by the template's element `caption`; nil for nothing.
  package func show(label: String?) throws(PipelineFailure) {
    try checkCaption()
    caption?.show(label: label ?? "")
  }

  /// - Throws: what it is made of has no element that shows labels.
  package func checkCaption() throws(PipelineFailure) { try made.template.checkCaption() }

  package func start() throws(PipelineFailure) { try made.start() }

  /// Hands on what is mixed, and has the mixer leave out frames where it is too far behind with them.
  private func take(
    _ captions: @escaping @Sendable (MediaTime) -> String, _ onBuffer: @escaping @Sendable (MediaBuffer) -> Void
  ) throws(PipelineFailure) {
    guard let pace else {
      try made.sink("pcm", onBuffer: onBuffer)
      return
    }
    // The sink's end takes its call-back away, and with it what that holds of the sink.
    let sink = Locked<AppSink?>(nil)
    let frames = try made.sink("frames") { [caption, changes] media in
      onBuffer(media)
      guard let time = media.pts else { return }
      caption?.write(captions: captions(time))
      let rest = pace.withLock { $0.mixed(time, at: .now) }
      if let rest { sink.withLock { $0 }?.leaveOut(after: time, for: rest) }
      // The mixer's own thread, which mixes the next frame once this has returned.
      let due = changes.withLock { $0.mixed(time, for: media.duration ?? .zero, skipping: rest ?? .zero) }
      for step in due { step() }
    }
    sink.withLock { $0 = frames }
  }

  /// When the first frame begins that is mixed at or after a moment; before anything is mixed, that moment.
  package func frame(at time: MediaTime) -> MediaTime { changes.withLock { $0.frame(at: time) } }

  /// Has tiles change between two mixed frames: none has one of these changes without the others.
  /// - Parameter time: by `frame(at:)`.
  package func change(_ tiles: [MixTile.Change], at time: MediaTime) {
    guard !tiles.isEmpty else { return }
    step(at: time - MixTile.Change.lead) { for tile in tiles { tile.prepare() } }
    step(at: time) { for tile in tiles { tile.apply() } }
  }

  private func step(at time: MediaTime, _ body: @escaping MixTile.Step) {
    let isWaiting = changes.withLock { $0.add(body, from: time) }
    if !isWaiting { body() }
  }

  /// Frames that were not mixed since the machine did not keep up.
  package var leftOut: Int { pace?.withLock { $0.leftOut } ?? 0 }

  /// A tile that frames are shown in; it is not started.
  /// - Parameters:
  ///   - rounding: of its corners, wherever it is put to be rounded; nil for none.
  ///   - onFailure: told what goes wrong in it, on the thread that all pipelines share or a streaming one; nil where that is
  ///     an error of all that is mixed.
  package func addTile(
    _ template: FilledTemplate, rounding: CornerRounding? = nil,
    onFailure: (@Sendable (PipelineFailure) -> Void)? = nil
  ) throws(PipelineFailure) -> MixTile {
    do { return try MixTile(template, in: made.pipeline, rounding: rounding, onFailure: onFailure) } catch {
      throw PipelineFailure(error, in: template)
    }
  }

  /// An input of audio, which is heard from now on.
  /// - Parameter onFailure: as for a tile.
  package func addAudio(
    _ template: FilledTemplate, channel: MixVoice.Channel = .both,
    onFailure: (@Sendable (PipelineFailure) -> Void)? = nil
  ) throws(PipelineFailure) -> MixVoice {
    do {
      return try MixVoice(template, in: made.pipeline, channel: channel, delay: delay, onFailure: onFailure)
    } catch {
      throw PipelineFailure(error, in: template)
    }
  }

  /// No thread of it is left when this returns.
  package func stop() async { await made.pipeline.stop() }
}
