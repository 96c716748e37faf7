import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates

/// What a room is mixed with: the pipelines, and the templates of what goes into them.
struct RoomMix: Sendable {
  /// Of one kind of media.
  struct Part: Sendable {
    let pipeline: MixPipeline
    let tile: FilledTemplate
    /// Of tiles; nil where their corners stay as they are.
    var rounding: CornerRounding?
  }
  private(set) var video: Part?
  private(set) var audio: Part?
  /// Makes what is seen of who has no camera; nil where that was not asked for.
  private(set) var painter: PlaceholderPainter?

  private var background: MixBackground?
  /// Above what keeps the mixer going, and below all tiles.
  static let backgroundLevel = 1

  /// All templates that mix.
  static let templates = [Track.Kind.video, .audio].flatMap(templates(of:))

  /// The templates of a kind: what mixes, what goes into that, of the same name, and what stands in for that.
  static func templates(of kind: Track.Kind) -> [TemplateName] {
    let both = [TemplateName(.mix, kind.description), TemplateName(.tile, kind.description)]
    return both + (kind == .video ? [PlaceholderPainter.template] : [])
  }

  /// Those of a kind that are used.
  static func templates(of kind: Track.Kind, _ options: CompositeOptions) -> [TemplateName] {
    templates(of: kind).filter { $0 != PlaceholderPainter.template || options.showsPlaceholders }
  }

  /// What mixing derives.
  static func values(_ options: CompositeOptions) -> [String: String] {
    ["width": "\(options.size.width)", "height": "\(options.size.height)", "framerate": "\(options.framerate)/1"]
  }

  /// Frames of another size than those before wait until all those are mixed, so that what comes within the delay has to
  /// find room. What the template says of its queue is for the usual delay.
  /// - Parameter tile: of video.
  private static func values(of tile: Template, delay: Duration) -> [String: String] {
    let name = "tile-queue"
    let variable = tile.variables.first { $0.name == name }
    guard delay > usualDelay, let usual = variable?.defaultValue.flatMap({ Int($0) }) else { return [:] }
    return [name: "\(usual + Int(((delay - usualDelay).seconds * mostFrames).rounded()))"]
  }
  /// Of frames.
  private static let usualDelay = Duration.milliseconds(300)
  /// A second, of a participant.
  private static let mostFrames = 60.0

  /// Nothing runs before `start()`.
  /// - Parameters:
  ///   - options: of which kinds it is.
  ///   - factory: with the values that were set.
  ///   - captions: called on a streaming thread for the lines of what is said at a moment; to return at once.
  ///   - onMedia: called on streaming threads with what is mixed, in order for each kind; to return at once.
  ///   - onFailure: told why nothing is mixed any more.
  init(
    _ options: CompositeOptions, factory: PipelineFactory, captions: @escaping @Sendable (MediaTime) -> String,
    onMedia: @escaping @Sendable (MediaBuffer, Track.Kind) -> Void,
    onFailure: @escaping @Sendable (LiveKitError, Track.Kind) -> Void
  ) throws(LiveKitError) {
    let values = Self.values(options)
    func part(_ kind: Track.Kind) throws(LiveKitError) -> Part? {
      guard options.kinds.contains(kind) else { return nil }
      return try LiveKitError.wrapping { () throws(PipelineFailure) -> Part in
        let pipeline = try MixPipeline(
          try factory.fill(.mix, kind.description, values: values), factory: factory, captions: captions,
          onBuffer: { onMedia($0, kind) }, onFailure: { onFailure(LiveKitError($0), kind) })
        let tile = try factory.template(.tile, kind.description)
        let own = kind == .video ? Self.values(of: tile, delay: pipeline.delay) : [:]
        return Part(pipeline: pipeline, tile: try factory.fill(tile, values: own))
      }
    }
    (video, audio) = (try part(.video), try part(.audio))
    let hasPlaceholders = options.showsPlaceholders && video != nil
    painter = try LiveKitError.wrapping { () throws(PipelineFailure) in
      hasPlaceholders ? try PlaceholderPainter(factory: factory) : nil
    }
    if options.scenery.cornerRadius > 0 {
      video?.rounding = CornerRounding(radius: options.scenery.cornerRadius)
    }
    let size = PixelSize(options.size)
    background = video.map { MixBackground($0, size) }
    try background?.show(options.background)
    if let logo = options.scenery.logo, let place = try options.scenery.logoPlace(size) {
      try LiveKitError.wrapping { () throws(PipelineFailure) in
        try video?.pipeline.show(logo: logo.file, at: place, opacity: logo.opacity)
      }
    }
  }

  /// How long after it was a moment is mixed, of the slower kind.
  var delay: Duration { delays.values.max() ?? .zero }
  /// Of each kind.
  var delays: [Track.Kind: Duration] {
    [Track.Kind.video: video, .audio: audio].compactMapValues { $0?.pipeline.delay }
  }

  func start() throws(LiveKitError) {
    for part in [video, audio] {
      try LiveKitError.wrapping { () throws(PipelineFailure) in try part?.pipeline.start() }
    }
    background?.start()
  }

  /// What runs may be another template than the one that is there now.
  /// - Parameter isOfTile: whether the label is one of a participant, and not of the whole frame.
  /// - Throws: nothing shows labels in it.
  func checkCaption(isOfTile: Bool) throws(LiveKitError) {
    guard let video else { return }
    try LiveKitError.wrapping { () throws(PipelineFailure) -> Void in
      try isOfTile ? video.tile.checkCaption() : video.pipeline.checkCaption()
    }
  }

  /// What is seen where no tile is, from now on.
  func show(background new: CompositeScenery.Background) throws(LiveKitError) { try background?.show(new) }

  /// Looks after the background.
  /// - Returns: why it is not seen; nil where it is.
  func mend(background: CompositeScenery.Background, at now: MediaTime) -> LiveKitError? {
    self.background?.mend(background, at: now)
  }

  /// The part of a kind alone.
  func only(_ kind: Track.Kind) -> Self {
    var part = self
    if kind == .video { part.audio = nil } else { (part.video, part.background, part.painter) = (nil, nil, nil) }
    return part
  }

  /// With the part of a kind from another one.
  func with(_ kind: Track.Kind, of other: Self) -> Self {
    var whole = self
    if kind == .audio {
      whole.audio = other.audio
    } else {
      (whole.video, whole.background, whole.painter) = (other.video, other.background, other.painter)
    }
    return whole
  }

  /// No thread of it is left when this returns.
  func stop() async {
    background?.remove()
    for part in [video, audio] { await part?.pipeline.stop() }
  }
}

extension PipelineFactory {
  /// Whether a template that mixes has such a variable, and so a value is for that.
  func mixes(with name: String) -> Bool {
    RoomMix.templates.contains { (try? variables(of: $0))?.contains(name) == true }
  }
}
