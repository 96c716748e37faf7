import GStreamerKit
import MediaCore

/// Makes the pictures that stand in while none come: the one shown last, or black before the first.
struct PictureHolder: Sendable {
  private let isRaw: Bool
  private let blackSize: Dimensions
  private var keyframe: MediaBuffer?
  private var last: MediaBuffer?
  /// Pictures made since the last real one.
  private var count = 0
  /// Whether pictures that need earlier ones cannot be decoded after what was made.
  private(set) var awaitsKeyframe = false

  /// - Parameter blackSize: of the pictures before the first one.
  init(isRaw: Bool, blackSize: Dimensions) {
    self.isRaw = isRaw
    self.blackSize = blackSize
  }

  /// False for a picture that cannot be decoded after those that were made here.
  func canShow(_ picture: MediaBuffer) -> Bool { !awaitsKeyframe || !picture.isDelta }

  /// Notes a picture as shown.
  mutating func show(_ picture: MediaBuffer) {
    awaitsKeyframe = false
    if !picture.isDelta { keyframe = picture }
    last = picture
    count = 0
  }

  /// The next stand-in; nil when there is nothing to show.
  mutating func next() -> MediaBuffer? {
    if isRaw { return last ?? black() }
    guard let keyframe else { return nil }
    count += 1
    awaitsKeyframe = true
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
