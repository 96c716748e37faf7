import MediaPipelines
import PipelineTemplates

/// How one track goes out: settled before it is announced.
struct PublishPlan: Sendable {
  /// One stream, of a size of its own.
  struct Layer: Sendable, Equatable {
    /// The name of the layer towards the server; empty for one alone.
    var rid: String
    /// Nil for audio.
    var size: Dimensions?
    /// Bits a second; nil for what the encode template says.
    var bitrate: Int?
    /// Frames a second at most; nil for all.
    var rate: Int?
  }

  var name: String
  var codec: String
  var encodeTemplate: String
  var values: [String: String]
  /// Of audio: next to nothing is sent while it is silent.
  var isDiscontinuous = false
  /// Of audio: each packet holds the one before, too.
  var isRedundant = false
  var layers: [Layer]
  /// Whether what the source carries is sent as it is where it comes so.
  var isAsItIs = false
  /// Why it is not, although that was asked for.
  var reason: String?
  /// What its layers are cut by; nil where they stay as they are: those of audio, and of what is sent as it is.
  private var cut: Cut?

  private struct Cut: Sendable {
    /// Of the frames as they are seen.
    var size: Dimensions
    var options: VideoPublishOptions
    var isScreen: Bool
  }

  /// The same track in another codec.
  struct Backup: Sendable, Equatable {
    var codec: String
    var encodeTemplate: String
    var layers: [Layer]
    /// What becomes of the first codec beside it.
    var policy: BackupCodecPolicy
  }
  /// For those who cannot decode this one; nil for none.
  var backup: Backup?

  /// How the track goes out in the other codec; nil without one.
  var backupPlan: PublishPlan? {
    guard let backup else { return nil }
    var plan = self
    (plan.codec, plan.encodeTemplate, plan.layers) = (backup.codec, backup.encodeTemplate, backup.layers)
    (plan.backup, plan.values, plan.isAsItIs, plan.reason) = (nil, [:], false, nil)
    plan.cut = cut.flatMap { cut in
      cut.options.backup.map { Cut(size: cut.size, options: $0, isScreen: cut.isScreen) }
    }
    return plan
  }

  var isVideo: Bool { codec != "opus" }
  var templates: [TemplateName] { [TemplateName(.encode, encodeTemplate), TemplateName(.send, codec)] }

  /// - Parameter encoder: the variables of its encode template.
  init(_ options: AudioPublishOptions, name: String, encoder: Set<String> = []) {
    self.name = options.name ?? name
    codec = "opus"
    (encodeTemplate, values) = (options.encodeTemplate, options.values)
    (isDiscontinuous, isRedundant) = (options.dtx, options.red)
    layers = [Layer(rid: "", bitrate: options.encoding?.maxBitrate)]
    reason = options.reasonToEncode(encoder)
    isAsItIs = reason == nil
  }

  /// What the source carries, as it is or not.
  /// - Parameters:
  ///   - accepted: the codecs that the room takes.
  ///   - encoder: the variables of its encode template.
  init(
    _ options: VideoPublishOptions, name: String, stream: CarriedStream, accepted: Set<VideoCodec>,
    encoder: Set<String> = []
  ) {
    let size = stream.size ?? Dimensions(width: 1280, height: 720)
    if let obstacle = options.reasonToEncode(encoder) ?? stream.obstacle(accepted: accepted) {
      self.init(options, name: name, size: size, isScreen: false)
      reason = obstacle
    } else {
      // For when it cannot go on as it is: packets of the same codec follow.
      var single = options
      (single.preferredCodec, single.simulcast) = (stream.codec, false)
      self.init(single, name: name, size: size, isScreen: false)
      // Encoders want pairs of pixels; this one has been at work already.
      layers[0].size = size
      (isAsItIs, cut) = (true, nil)
    }
  }

  /// - Parameters:
  ///   - size: of the frames as they are seen, upright.
  ///   - isScreen: whether it is a screen rather than a camera.
  init(_ options: VideoPublishOptions, name: String, size: Dimensions, isScreen: Bool) {
    self.name = options.name ?? name
    codec = options.preferredCodec.rawValue
    encodeTemplate = options.usedEncodeTemplate
    values = options.values
    cut = Cut(size: size, options: options, isScreen: isScreen)
    layers = Self.layers(of: size, options, isScreen: isScreen)
    backup = options.backup.map { other in
      Backup(
        codec: other.preferredCodec.rawValue, encodeTemplate: other.usedEncodeTemplate,
        layers: Self.layers(of: size, other, isScreen: isScreen), policy: options.backupCodecPolicy)
    }
  }

  /// The longer side of a layer that is alone because the first frames were too small for others: it is for everybody,
  /// and not everybody has room for more.
  private static let longestSole: Int32 = 1920

  /// Of the frames that its layers are cut for; nil where they stay as they are.
  var frameSize: Dimensions? { cut?.size }

  /// The layers for frames of another size: as many as the server was told of, and of the same names, since these are
  /// agreed with it. One that is announced and not sent would pass for loss: it expects them all.
  func layers(for size: Dimensions) -> [Layer] {
    guard let cut else { return layers }
    let usual = Self.layers(of: size, cut.options, isScreen: cut.isScreen)
    let isSole = layers.count == 1 && usual.count > 1
    let most = isSole ? size.scaled(by: Double(Self.longestSole) / Double(size.longer)) : size
    var new = isSole ? Self.layers(of: most, cut.options, isScreen: cut.isScreen) : usual
    new.removeFirst(max(0, new.count - layers.count))
    while new.count < layers.count, let smallest = new.first { new.insert(smallest.half, at: 0) }
    for index in new.indices { new[index].rid = layers[index].rid }
    return new
  }

  /// From the smallest to the largest.
  private static func layers(of size: Dimensions, _ options: VideoPublishOptions, isScreen: Bool) -> [Layer] {
    let full = size.scaled(by: 1)
    let encoding = isScreen ? options.screenShareEncoding : options.encoding
    let bitrate = encoding?.maxBitrate ?? usualBitrate(of: full)
    let largest = Layer(rid: "", size: full, bitrate: bitrate, rate: encoding?.maxFps)
    var layers =
      options.simulcast && !options.preferredCodec.comesInOneLayer ? smaller(than: largest, options, isScreen) : []
    guard !layers.isEmpty else { return [largest] }
    layers.append(largest)
    for (index, rid) in ["q", "h", "f"].enumerated() where layers.indices.contains(index) { layers[index].rid = rid }
    return layers
  }

  /// As many as LiveKit's clients cut.
  private static func smaller(than largest: Layer, _ options: VideoPublishOptions, _ isScreen: Bool) -> [Layer] {
    guard let full = largest.size, let bitrate = largest.bitrate, full.longer >= 480 else { return [] }
    let given = isScreen ? options.screenShareSimulcastLayers : options.simulcastLayers
    let usual = isScreen ? [VideoParameters.half(of: full, bitrate)] : VideoParameters.usualLayers(of: full)
    return (given.isEmpty ? usual : given).filter { $0.dimensions.longer < full.longer }
      .sorted { $0.dimensions.longer < $1.dimensions.longer }.prefix(full.longer >= 960 ? 2 : 1).map { layer in
        Layer(
          rid: "", size: full.scaled(by: Double(layer.dimensions.longer) / Double(full.longer)),
          bitrate: min(layer.encoding.maxBitrate, bitrate), rate: layer.encoding.maxFps)
      }
  }

  /// What LiveKit's clients give a camera of 16:9, by height; in between by the number of pixels.
  fileprivate static func usualBitrate(of size: Dimensions) -> Int {
    let known: [(pixels: Double, bitrate: Double)] = [
      (160 * 90, 90_000), (320 * 180, 160_000), (640 * 360, 450_000), (960 * 540, 800_000), (1280 * 720, 1_700_000),
      (1920 * 1080, 3_000_000), (2560 * 1440, 5_000_000), (3840 * 2160, 8_000_000),
    ]
    let pixels = Double(size.width) * Double(size.height)
    guard let above = known.firstIndex(where: { $0.pixels >= pixels }) else { return 8_000_000 }
    guard above > 0 else { return 90_000 }
    let (low, high) = (known[above - 1], known[above])
    let part = (pixels - low.pixels) / (high.pixels - low.pixels)
    return Int(low.bitrate + part * (high.bitrate - low.bitrate))
  }
}

extension PublishPlan.Layer {
  /// Encoders take hardly anything smaller.
  private static let leastLength = 160.0

  /// The next one below, where frames are too small for the usual ones.
  fileprivate var half: PublishPlan.Layer {
    guard let size else { return self }
    let smaller = size.scaled(by: max(0.5, Self.leastLength / Double(size.longer)))
    var half = self
    half.size = smaller
    half.bitrate = bitrate.map { min($0, PublishPlan.usualBitrate(of: smaller)) }
    return half
  }
}

extension VideoParameters {
  /// Of a camera's frames, as LiveKit's clients have them.
  fileprivate static func usualLayers(of size: Dimensions) -> [VideoParameters] {
    [(height: 180.0, rate: 15), (360.0, 20)].map { height, rate in
      let size = size.scaled(by: height / Double(size.shorter))
      let encoding = VideoEncoding(maxBitrate: PublishPlan.usualBitrate(of: size), maxFps: rate)
      return VideoParameters(dimensions: size, encoding: encoding)
    }
  }

  /// Of a screen, on which what is written is to stay legible; as LiveKit's clients have it.
  fileprivate static func half(of size: Dimensions, _ bitrate: Int) -> VideoParameters {
    let encoding = VideoEncoding(maxBitrate: max(150_000, bitrate / 4), maxFps: 30)
    return VideoParameters(dimensions: size.scaled(by: 0.5), encoding: encoding)
  }
}

extension Dimensions {
  var longer: Int32 { max(width, height) }
  fileprivate var shorter: Int32 { min(width, height) }

  /// The same shape in whole pairs of pixels, as encoders want them; never larger.
  func scaled(by factor: Double) -> Dimensions {
    func even(_ length: Int32) -> Int32 { max(2, Int32((Double(length) * min(factor, 1)).rounded()) & ~1) }
    return Dimensions(width: even(width), height: even(height))
  }
}
