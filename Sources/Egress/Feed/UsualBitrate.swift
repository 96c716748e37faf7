import MediaBridge
import PipelineTemplates

/// The bitrate of encoded video where nobody has said one: what the presets have for as many pixels a second. Pure.
enum UsualBitrate {
  /// Of encode templates that leave it to the frames; whoever writes another default there has said one.
  static let templateDefault = "2500"
  /// In kbit/s: below it little is to be seen.
  private static let least = 500.0

  private static let known: [(pixels: Double, bitrate: Double)] = {
    let presets: [EncodingOptionsPreset] = [.h264720p30, .h264720p60, .h2641080p30, .h2641080p60]
    return presets.map { (UsualBitrate.pixels($0.size, $0.framerate), Double($0.videoBitrate)) }
  }()

  /// In kbit/s.
  static func of(_ size: Dimensions, framerate: Int) -> Int {
    Int(max(least, bitrate(of: pixels(size, framerate))).rounded())
  }

  /// A second.
  private static func pixels(_ size: Dimensions, _ framerate: Int) -> Double {
    Double(size.width) * Double(size.height) * Double(framerate)
  }

  private static func bitrate(of pixels: Double) -> Double {
    guard let next = known.firstIndex(where: { $0.pixels >= pixels }) else {
      return grown(known[known.count - 1], to: pixels)
    }
    guard next > 0 else { return grown(known[0], to: pixels) }
    let (low, high) = (known[next - 1], known[next])
    return low.bitrate + (high.bitrate - low.bitrate) * (pixels - low.pixels) / (high.pixels - low.pixels)
  }

  /// Beyond the presets as between them: 1080p30 has 2.25 times as many pixels as 720p30, and 1.5 times its bitrate.
  private static func grown(_ known: (pixels: Double, bitrate: Double), to pixels: Double) -> Double {
    known.bitrate * (pixels / known.pixels).squareRoot()
  }
}

extension Job.Video {
  /// Of what is mixed, which has no codec.
  init(mixed options: CompositeOptions) {
    self.init(codec: nil, size: options.size, framerate: options.framerate)
  }

  /// What a template that encodes it is told.
  /// - Parameters:
  ///   - template: nil for what is not encoded, or is no video.
  ///   - set: by a person, before which this does not go.
  func values(for template: Template?, besides set: [String: String]) -> [String: String] {
    var values = size?.encodable?.values(besides: set) ?? [:]
    let variable = template?.variables.first { $0.name == "bitrate" }
    guard variable?.defaultValue == UsualBitrate.templateDefault,
      let size = Dimensions(values.merging(set) { $1 })
    else { return values }
    values["bitrate"] = "\(UsualBitrate.of(size, framerate: framerate ?? CompositeOptions.usualRate))"
    return values
  }
}

extension Dimensions {
  /// Of frames whose template has these values; nil where one side is not known.
  fileprivate init?(_ values: [String: String]) {
    guard let width = values["width"].flatMap({ Int32($0) }), let height = values["height"].flatMap({ Int32($0) }),
      width > 0, height > 0
    else { return nil }
    self.init(width: width, height: height)
  }
}
