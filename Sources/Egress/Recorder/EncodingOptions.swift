public import MediaBridge

/// How video and audio are encoded, in the words of LiveKit's Egress API. What is nil stays as it is sent, or as the encode
/// template has it. A track that could be stored as it is sent is encoded where this says anything of it but how often
/// keyframes come, for which whoever sends is asked.
public struct EncodingOptions: Sendable, Equatable {
  /// Fills what the others leave open, for the kinds of media that there are.
  public var preset: EncodingOptionsPreset?
  /// In pixels, even. Where only one side is given the other one keeps the shape.
  public var width: Int?
  /// In pixels, even.
  public var height: Int?
  /// Frames a second of a mixed room; those of one participant stay as they are sent.
  public var framerate: Int?
  /// In kbit/s; nil goes by size and rate of the frames, as the presets do: 3000 at 1280x720 and 30 a second, 4500 at
  /// 1920x1080, 500 at least. Frames of one participant count as 30 a second. An encode template of one's own that has
  /// another default keeps that.
  public var videoBitrate: Int?
  /// In kbit/s; nil leaves it to the encode template: 128.
  public var audioBitrate: Int?
  /// The longest time between two keyframes, in all destinations; nil leaves it to the output templates.
  public var keyFrameInterval: Duration?

  /// All as the properties say.
  public init(
    preset: EncodingOptionsPreset? = nil, width: Int? = nil, height: Int? = nil, framerate: Int? = nil,
    videoBitrate: Int? = nil, audioBitrate: Int? = nil, keyFrameInterval: Duration? = nil
  ) {
    (self.preset, self.width, self.height, self.framerate) = (preset, width, height, framerate)
    (self.videoBitrate, self.audioBitrate) = (videoBitrate, audioBitrate)
    self.keyFrameInterval = keyFrameInterval
  }
}

/// Sizes, frame rates and bitrates that go together: those of LiveKit Egress, with its numbers.
public enum EncodingOptionsPreset: String, Sendable, CaseIterable {
  /// 1280x720, 30 frames a second, 3000 kbit/s.
  case h264720p30 = "720p30"
  /// 1280x720, 60 frames a second, 4500 kbit/s.
  case h264720p60 = "720p60"
  /// 1920x1080, 30 frames a second, 4500 kbit/s.
  case h2641080p30 = "1080p30"
  /// 1920x1080, 60 frames a second, 6000 kbit/s.
  case h2641080p60 = "1080p60"
  /// 720x1280, 30 frames a second, 3000 kbit/s.
  case portraitH264720p30 = "portrait-720p30"
  /// 720x1280, 60 frames a second, 4500 kbit/s.
  case portraitH264720p60 = "portrait-720p60"
  /// 1080x1920, 30 frames a second, 4500 kbit/s.
  case portraitH2641080p30 = "portrait-1080p30"
  /// 1080x1920, 60 frames a second, 6000 kbit/s.
  case portraitH2641080p60 = "portrait-1080p60"

  /// Of the frames, in pixels.
  public var size: Dimensions {
    let (long, short): (Int32, Int32) = rawValue.contains("1080p") ? (1920, 1080) : (1280, 720)
    return isPortrait ? Dimensions(width: short, height: long) : Dimensions(width: long, height: short)
  }
  /// Frames a second.
  public var framerate: Int { rawValue.hasSuffix("60") ? 60 : 30 }
  /// In kbit/s.
  public var videoBitrate: Int {
    switch self {
    case .h264720p30, .portraitH264720p30: 3000
    case .h264720p60, .portraitH264720p60, .h2641080p30, .portraitH2641080p30: 4500
    case .h2641080p60, .portraitH2641080p60: 6000
    }
  }
  /// In kbit/s.
  public var audioBitrate: Int { 128 }

  private var isPortrait: Bool { rawValue.hasPrefix("portrait") }

  /// As LiveKit's Egress API calls it, such as `PORTRAIT_H264_720P_30`.
  package var egressName: String {
    "\(isPortrait ? "PORTRAIT_" : "")H264_\(min(size.width, size.height))P_\(framerate)"
  }

  /// - Parameter egressName: as LiveKit's Egress API calls it; nil for what is none.
  package init?(egressName: String) {
    guard let preset = Self.allCases.first(where: { $0.egressName == egressName }) else { return nil }
    self = preset
  }
}

extension EncodingOptions {
  /// For the variables of templates: what is given by itself, which one of them has to have.
  var ownValues: [String: String] {
    let numbers = ["width": width, "height": height, "bitrate": videoBitrate, "audio-bitrate": audioBitrate]
    return numbers.compactMapValues { $0.map(String.init) }
  }

  /// For the variables of templates that have them.
  var values: [String: String] {
    var values = ownValues
    if let preset {
      if width == nil, height == nil { values.merge(preset.size.values(besides: [:])) { $1 } }
      values["bitrate"] = values["bitrate"] ?? "\(preset.videoBitrate)"
      values["audio-bitrate"] = values["audio-bitrate"] ?? "\(preset.audioBitrate)"
    }
    if let keyFrameInterval { values["keyframe-interval"] = "\(keyFrameInterval / .seconds(1))" }
    return values
  }

  /// - Throws: what no encoder takes.
  func check() throws(LiveKitError) {
    try checkSize()
    guard let keyFrameInterval, !(.milliseconds(100)...(.seconds(3600))).contains(keyFrameInterval) else { return }
    throw LiveKitError(.invalidParameter, "a keyframe every \(keyFrameInterval): give 0.1 to 3600 seconds")
  }

  /// What was given as one is named as one.
  private func checkSize() throws(LiveKitError) {
    let sides = [("width", width), ("height", height)]
    let wrong = sides.first { $0.1.map { !(16...7680).contains($0) || !$0.isMultiple(of: 2) } ?? false }
    guard case (let name, let side?)? = wrong else { return }
    guard let width, let height else {
      throw LiveKitError(.invalidParameter, "a \(name) of \(side): give an even number of pixels from 16 to 7680")
    }
    throw LiveKitError(
      .invalidParameter, "a size of \(width)x\(height): give even numbers of pixels from 16 to 7680, such as 1280x720")
  }
}
