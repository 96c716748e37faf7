/// What one input of an output is fed, and why.
public struct Feed: Equatable, Sendable, CustomStringConvertible {
  /// How media gets into the input.
  public enum Way: Equatable, Sendable {
    /// As the sender encoded it.
    case asSent
    /// Decoded frames or PCM, since the output takes them.
    case raw
    /// Decoded, and encoded by the encode template of that name.
    case encoded(by: String)
  }

  /// How media gets into the input.
  public var way: Way
  /// The parser, with its properties, that brings it into the stream format which the output takes; nil where it fits.
  public var parser: String?
  /// In words, such as "output/mp4 takes H264, and this is VP8".
  public var reason: String

  /// - Parameter reason: in words, for people.
  public init(_ way: Way, parser: String? = nil, reason: String) {
    self.way = way
    self.parser = parser
    self.reason = reason
  }

  /// The name of its encode template.
  public var encoder: String? { if case .encoded(let name) = way { name } else { nil } }

  /// Such as "encoded by encode/h264: output/mp4 takes H264, and this is VP8".
  public var description: String {
    let what =
      switch way {
      case .asSent: parser == nil ? "as sent" : "parsed"
      case .raw: "decoded"
      case .encoded(let name): "encoded by encode/\(name)"
      }
    return "\(what): \(reason)"
  }
}

/// What is known of a track before it is fed to an output.
public struct TrackTraits: Equatable, Sendable {
  /// As descriptions spell it, in small letters; nil while it is not known, since nothing has come yet, and for what is mixed.
  public var codec: String?
  /// Whether it is made of frames or PCM here, and so comes in no codec.
  public var isMixed: Bool
  /// Whether frames may come turned, and turn while they come.
  public var mayTurn: Bool
  /// Of all its frames; nil where it may change, as that of a camera does.
  public var width: Int?
  /// Of all its frames, as `width`.
  public var height: Int?
  /// Whether frames are sent in another order than they are shown.
  public var hasBFrames: Bool
  /// Whether a frame may be several in one stream, one for each spatial layer.
  public var hasSpatialLayers: Bool
  /// The longest time between two keyframes; nil where they only come when they are asked for.
  public var keyframeInterval: Duration?

  /// As little or as much as is known.
  public init(
    codec: String?, mayTurn: Bool = false, width: Int? = nil, height: Int? = nil, hasBFrames: Bool = false,
    hasSpatialLayers: Bool = false, keyframeInterval: Duration? = nil, isMixed: Bool = false
  ) {
    (self.codec, self.isMixed) = (codec, isMixed)
    self.mayTurn = mayTurn
    (self.width, self.height) = (width, height)
    (self.hasBFrames, self.hasSpatialLayers) = (hasBFrames, hasSpatialLayers)
    self.keyframeInterval = keyframeInterval
  }

  /// As it comes out of a receive template that does not decode; nil where that is not known.
  var format: CapsText.Format? {
    guard let template = codec.flatMap({ Self.sentFormats[$0] }), var format = CapsText(template).formats.first else {
      return nil
    }
    format.fields["width"] = width.map { ["\($0)"] }
    format.fields["height"] = height.map { ["\($0)"] }
    return format
  }

  /// What the receive templates promise.
  private static let sentFormats = [
    "vp8": "video/x-vp8", "vp9": "video/x-vp9,alignment=super-frame",
    "h264": "video/x-h264,stream-format=avc,alignment=au",
    "av1": "video/x-av1,stream-format=obu-stream,alignment=tu",
    "opus": "audio/x-opus,rate=48000,channels=2,channel-mapping-family=0",
  ]
}

/// An encode template, as far as the choice of a feed asks.
public struct EncoderTraits: Equatable, Sendable {
  /// Without `encode/`.
  public var name: String
  /// The caps of its appsink `encoded`.
  public var makes: CapsText
  /// The names of its variables.
  public var variables: Set<String>

  /// Which takes several times as long as other codecs do: nobody gets it who did not ask.
  var makesAV1: Bool { makes.formats.contains { $0.mediaType == "video/x-av1" } }

  /// As the template says it.
  public init(name: String, makes: CapsText, variables: Set<String>) {
    self.name = name
    self.makes = makes
    self.variables = variables
  }
}
