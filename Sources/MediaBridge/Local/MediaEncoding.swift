// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The presets have the names that they have in LiveKit's SDK.

/// How much a layer of video may take.
public struct VideoEncoding: Sendable, Hashable {
  /// Bits a second that the encoder aims at.
  public var maxBitrate: Int
  /// Frames a second at most; what is captured above that is left out.
  public var maxFps: Int

  /// - Parameter maxBitrate: bits a second.
  public init(maxBitrate: Int, maxFps: Int = 30) { (self.maxBitrate, self.maxFps) = (maxBitrate, maxFps) }
}

/// A layer of video: how large it is, and how much it may take.
public struct VideoParameters: Sendable, Hashable {
  /// In pixels. A layer keeps the shape of the track, and has the longer side of this.
  public var dimensions: Dimensions
  /// How much it may take.
  public var encoding: VideoEncoding

  /// - Parameter dimensions: in pixels.
  public init(dimensions: Dimensions, encoding: VideoEncoding) {
    (self.dimensions, self.encoding) = (dimensions, encoding)
  }

  private init(_ width: Int32, _ height: Int32, kilobits: Int, fps: Int) {
    dimensions = Dimensions(width: width, height: height)
    encoding = VideoEncoding(maxBitrate: kilobits * 1000, maxFps: fps)
  }
}

/// What LiveKit's clients call so, by height.
extension VideoParameters {
  /// 160x90, 90 kbit/s, 15 frames a second.
  public static let presetH90_169 = VideoParameters(160, 90, kilobits: 90, fps: 15)
  /// 320x180, 160 kbit/s, 15 frames a second.
  public static let presetH180_169 = VideoParameters(320, 180, kilobits: 160, fps: 15)
  /// 384x216, 180 kbit/s, 15 frames a second.
  public static let presetH216_169 = VideoParameters(384, 216, kilobits: 180, fps: 15)
  /// 640x360, 450 kbit/s, 20 frames a second.
  public static let presetH360_169 = VideoParameters(640, 360, kilobits: 450, fps: 20)
  /// 960x540, 800 kbit/s, 25 frames a second.
  public static let presetH540_169 = VideoParameters(960, 540, kilobits: 800, fps: 25)
  /// 1280x720, 1.7 Mbit/s, 30 frames a second.
  public static let presetH720_169 = VideoParameters(1280, 720, kilobits: 1700, fps: 30)
  /// 1920x1080, 3 Mbit/s, 30 frames a second.
  public static let presetH1080_169 = VideoParameters(1920, 1080, kilobits: 3000, fps: 30)
  /// 2560x1440, 5 Mbit/s, 30 frames a second.
  public static let presetH1440_169 = VideoParameters(2560, 1440, kilobits: 5000, fps: 30)
  /// 3840x2160, 8 Mbit/s, 30 frames a second.
  public static let presetH2160_169 = VideoParameters(3840, 2160, kilobits: 8000, fps: 30)

  /// 160x120, 70 kbit/s, 15 frames a second.
  public static let presetH120_43 = VideoParameters(160, 120, kilobits: 70, fps: 15)
  /// 240x180, 125 kbit/s, 15 frames a second.
  public static let presetH180_43 = VideoParameters(240, 180, kilobits: 125, fps: 15)
  /// 320x240, 140 kbit/s, 15 frames a second.
  public static let presetH240_43 = VideoParameters(320, 240, kilobits: 140, fps: 15)
  /// 480x360, 330 kbit/s, 20 frames a second.
  public static let presetH360_43 = VideoParameters(480, 360, kilobits: 330, fps: 20)
  /// 640x480, 500 kbit/s, 20 frames a second.
  public static let presetH480_43 = VideoParameters(640, 480, kilobits: 500, fps: 20)
  /// 720x540, 600 kbit/s, 25 frames a second.
  public static let presetH540_43 = VideoParameters(720, 540, kilobits: 600, fps: 25)
  /// 960x720, 1.3 Mbit/s, 30 frames a second.
  public static let presetH720_43 = VideoParameters(960, 720, kilobits: 1300, fps: 30)
  /// 1440x1080, 2.3 Mbit/s, 30 frames a second.
  public static let presetH1080_43 = VideoParameters(1440, 1080, kilobits: 2300, fps: 30)
  /// 1920x1440, 3.8 Mbit/s, 30 frames a second.
  public static let presetH1440_43 = VideoParameters(1920, 1440, kilobits: 3800, fps: 30)

  /// 640x360, 200 kbit/s, 3 frames a second.
  public static let presetScreenShareH360FPS3 = VideoParameters(640, 360, kilobits: 200, fps: 3)
  /// 1280x720, 800 kbit/s, 5 frames a second.
  public static let presetScreenShareH720FPS5 = VideoParameters(1280, 720, kilobits: 800, fps: 5)
  /// 1280x720, 1.5 Mbit/s, 15 frames a second.
  public static let presetScreenShareH720FPS15 = VideoParameters(1280, 720, kilobits: 1500, fps: 15)
  /// 1920x1080, 2.5 Mbit/s, 15 frames a second.
  public static let presetScreenShareH1080FPS15 = VideoParameters(1920, 1080, kilobits: 2500, fps: 15)
  /// 1920x1080, 5 Mbit/s, 30 frames a second.
  public static let presetScreenShareH1080FPS30 = VideoParameters(1920, 1080, kilobits: 5000, fps: 30)
}

/// How much audio may take.
public struct AudioEncoding: Sendable, Hashable {
  /// Bits a second that the encoder aims at.
  public var maxBitrate: Int

  /// - Parameter maxBitrate: bits a second.
  public init(maxBitrate: Int) { self.maxBitrate = maxBitrate }

  /// A voice that is understood: 12 kbit/s, as LiveKit's clients have it.
  public static let presetTelephone = AudioEncoding(maxBitrate: 12_000)
  /// A voice: 24 kbit/s, as LiveKit's clients have it.
  public static let presetSpeech = AudioEncoding(maxBitrate: 24_000)
  /// Music in mono: 48 kbit/s, as LiveKit's clients have it.
  public static let presetMusic = AudioEncoding(maxBitrate: 48_000)
  /// Music in stereo: 64 kbit/s, as LiveKit's clients have it.
  public static let presetMusicStereo = AudioEncoding(maxBitrate: 64_000)
  /// Music in mono of the best quality: 96 kbit/s, as LiveKit's clients have it.
  public static let presetMusicHighQuality = AudioEncoding(maxBitrate: 96_000)
  /// Music in stereo of the best quality: 128 kbit/s, as LiveKit's clients have it.
  public static let presetMusicHighQualityStereo = AudioEncoding(maxBitrate: 128_000)
}
