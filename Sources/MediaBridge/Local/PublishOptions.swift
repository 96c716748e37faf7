package import MediaPipelines

/// How much a layer of video may take.
public struct VideoEncoding: Sendable, Hashable {
  /// Bits a second that the encoder aims at.
  public var maxBitrate: Int
  /// Frames a second that the bitrate is meant for; what is captured decides how many there are.
  public var maxFps: Int

  /// - Parameter maxBitrate: bits a second.
  public init(maxBitrate: Int, maxFps: Int = 30) { (self.maxBitrate, self.maxFps) = (maxBitrate, maxFps) }
}

/// How video is published.
public struct VideoPublishOptions: Sendable, Hashable {
  /// What the track is called; nil for the track's own name.
  public var name: String?
  /// Of the largest layer; nil for what LiveKit's clients use at its size.
  public var encoding: VideoEncoding?
  /// Whether smaller layers are sent, too, between which the server chooses for each subscriber. VP9, which is sent as it
  /// is, has none.
  public var simulcast: Bool
  /// VP8, VP9 or H.264.
  public var preferredCodec: VideoCodec
  /// The name of the encode template; nil for the one of the codec: `vp8`, `vp9` or `h264-low-latency`.
  public var encodeTemplate: String?
  /// Values for the variables of the encode and send templates, by name; they go before what is derived.
  public var values: [String: String]

  /// Without arguments VP8 in layers.
  public init(
    name: String? = nil, encoding: VideoEncoding? = nil, simulcast: Bool = true, preferredCodec: VideoCodec = .vp8,
    encodeTemplate: String? = nil, values: [String: String] = [:]
  ) {
    (self.name, self.encoding, self.simulcast) = (name, encoding, simulcast)
    (self.preferredCodec, self.encodeTemplate, self.values) = (preferredCodec, encodeTemplate, values)
  }
}

extension VideoPublishOptions {
  var usedEncodeTemplate: String {
    encodeTemplate ?? (preferredCodec == .h264 ? "h264-low-latency" : preferredCodec.rawValue)
  }

  /// What is between the frames and the room.
  package var templates: [TemplateName] {
    [TemplateName(.encode, usedEncodeTemplate), TemplateName(.send, preferredCodec.rawValue)]
  }
}

/// How audio is published: as Opus.
public struct AudioPublishOptions: Sendable, Hashable {
  /// What the track is called; nil for the track's own name.
  public var name: String?
  /// Bits a second; nil for what the encode template says.
  public var maxBitrate: Int?
  /// The name of the encode template.
  public var encodeTemplate: String
  /// Values for the variables of the encode and send templates, by name; they go before what is derived.
  public var values: [String: String]

  /// Without arguments as the template `encode/opus` has it.
  public init(
    name: String? = nil, maxBitrate: Int? = nil, encodeTemplate: String = "opus", values: [String: String] = [:]
  ) {
    (self.name, self.maxBitrate) = (name, maxBitrate)
    (self.encodeTemplate, self.values) = (encodeTemplate, values)
  }
}

extension AudioPublishOptions {
  /// What is between the audio and the room.
  package var templates: [TemplateName] { [TemplateName(.encode, encodeTemplate), TemplateName(.send, "opus")] }
}

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
  }

  var name: String
  var codec: String
  var encodeTemplate: String
  var values: [String: String]
  var layers: [Layer]

  var templates: [TemplateName] { [TemplateName(.encode, encodeTemplate), TemplateName(.send, codec)] }

  init(_ options: AudioPublishOptions, name: String) {
    self.name = options.name ?? name
    codec = "opus"
    (encodeTemplate, values) = (options.encodeTemplate, options.values)
    layers = [Layer(rid: "", bitrate: options.maxBitrate)]
  }

  /// - Parameter size: of the frames as they are seen, upright.
  init(_ options: VideoPublishOptions, name: String, size: Dimensions) {
    self.name = options.name ?? name
    codec = options.preferredCodec.rawValue
    encodeTemplate = options.usedEncodeTemplate
    values = options.values
    layers = Self.layers(of: size, options)
  }

  /// From the smallest to the largest, as LiveKit's clients cut a camera's frames: three from 960 pixels on, two from 480.
  private static func layers(of size: Dimensions, _ options: VideoPublishOptions) -> [Layer] {
    let full = size.scaled(by: 1)
    let largest = options.encoding?.maxBitrate ?? usualBitrate(of: full)
    let isLayered = options.simulcast && options.preferredCodec != .vp9 && size.longer >= 480
    guard isLayered else { return [Layer(rid: "", size: full, bitrate: largest)] }
    let heights: [Int32] = size.longer >= 960 ? [180, 360] : [180]
    let sizes = heights.map { size.scaled(by: Double($0) / Double(size.shorter)) } + [full]
    return sizes.enumerated().map { index, size in
      Layer(
        rid: ["q", "h", "f"][index], size: size,
        bitrate: size == full ? largest : min(largest, usualBitrate(of: size)))
    }
  }

  /// What LiveKit's clients give a camera of 16:9, by height; in between by the number of pixels.
  private static func usualBitrate(of size: Dimensions) -> Int {
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

extension Dimensions {
  var longer: Int32 { max(width, height) }
  fileprivate var shorter: Int32 { min(width, height) }

  /// The same shape in whole pairs of pixels, as encoders want them; never larger.
  func scaled(by factor: Double) -> Dimensions {
    func even(_ length: Int32) -> Int32 { max(2, Int32((Double(length) * min(factor, 1)).rounded()) & ~1) }
    return Dimensions(width: even(width), height: even(height))
  }
}
