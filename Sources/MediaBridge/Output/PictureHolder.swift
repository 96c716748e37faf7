import GStreamerKit
import MediaCore
import RTP

/// Makes the pictures that stand in while none come: the one shown last, or black before the first.
struct PictureHolder: Sendable {
  /// Follows encoded pictures; nil for raw ones, and for a codec whose pictures cannot be held.
  private var maker: HeldPictureMaker?
  private let isRaw: Bool
  private let blackSize: Dimensions
  private var caps: Caps?
  private var keyframe: MediaBuffer?
  /// The newest raw picture.
  private var last: MediaBuffer?
  /// Whether pictures that need earlier ones cannot be decoded after what was made.
  private var awaitsKeyframe = false

  /// - Parameters:
  ///   - codec: of encoded pictures; nil for raw ones.
  ///   - blackSize: of raw pictures before the first one.
  init(codec: RTP.VideoCodec?, blackSize: Dimensions) {
    isRaw = codec == nil
    maker = codec.flatMap(HeldPictureMaker.init(codec:))
    self.blackSize = blackSize
  }

  /// False for a picture that cannot be decoded after those that were made here.
  func canShow(_ picture: MediaBuffer) -> Bool { !awaitsKeyframe || !picture.isDelta }

  /// Notes a picture as shown.
  mutating func show(_ picture: MediaBuffer) {
    awaitsKeyframe = false
    guard !isRaw else {
      last = picture
      return
    }
    if !picture.isDelta { keyframe = picture }
    if caps != picture.caps {
      caps = picture.caps
      picture.caps.bytes("codec_data").map { data in data.withUnsafeBytes { maker?.configure($0) } }
    }
    picture.withUnsafeBytes { maker?.follow($0) }
  }

  /// The next stand-in; nil when there is nothing to show.
  mutating func next() -> MediaBuffer? {
    if isRaw { return last ?? black() }
    if let caps, let held = maker?.picture() {
      return held.bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil, isDelta: true) }
    }
    // An old picture rather than a file that does not go on; what comes next has to begin anew.
    awaitsKeyframe = keyframe != nil
    return keyframe
  }

  private mutating func black() -> MediaBuffer? {
    let (width, height) = (Int(blackSize.width), Int(blackSize.height))
    guard let caps = Caps("video/x-raw,format=I420,width=\(width),height=\(height),framerate=0/1") else { return nil }
    let luma = [UInt8](repeating: 16, count: width * height)
    let picture = luma + [UInt8](repeating: 128, count: width * height / 2)
    last = picture.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
    return last
  }
}
