import Bitstream
import GStreamerKit
import MediaBridge
import MediaCore

/// Makes the frames that stand in while none come: the one shown last, or black before the first and while nothing is
/// sent on purpose.
struct FrameRepeater: Sendable {
  /// Of the frame shown last, where its format says.
  var size: Dimensions? {
    guard let caps = last?.caps ?? caps, let width = caps.int("width"), let height = caps.int("height") else {
      return nil
    }
    return Dimensions(width: Int32(clamping: width), height: Int32(clamping: height))
  }

  /// Follows encoded frames; nil for raw ones, and for a codec whose frames cannot be repeated.
  private var maker: RepeatFrameMaker?
  private let codec: Bitstream.VideoCodec?
  private let blackSize: Dimensions
  private var caps: Caps?
  private var keyframe: MediaBuffer?
  /// The newest raw frame.
  private var last: MediaBuffer?
  /// Whether frames that need earlier ones cannot be decoded after what was made.
  private var awaitsKeyframe = false
  /// Whether what stands in was made black, and nothing was shown since.
  private(set) var isBlack = false

  /// - Parameters:
  ///   - codec: of encoded frames; nil for raw ones.
  ///   - blackSize: of raw frames before the first one.
  init(codec: Bitstream.VideoCodec?, blackSize: Dimensions) {
    self.codec = codec
    maker = codec.flatMap(RepeatFrameMaker.init(codec:))
    self.blackSize = blackSize
  }

  /// - Parameters:
  ///   - codec: of frames that come as they were sent; nil for decoded ones.
  ///   - size: of decoded frames before the first one; nil where nobody knows.
  init(asSent codec: String?, size: Dimensions?) {
    self.init(
      codec: codec.flatMap(Bitstream.VideoCodec.init(encodingName:)),
      blackSize: size ?? Dimensions(width: 1280, height: 720))
  }

  private var isRaw: Bool { codec == nil }

  /// False for a frame that cannot be decoded after those that were made here.
  func canShow(_ frame: MediaBuffer) -> Bool { !awaitsKeyframe || !frame.isDelta }

  /// Some were left out: those that need earlier ones cannot be decoded.
  mutating func awaitKeyframe() { awaitsKeyframe = !isRaw }

  /// Notes a frame as shown.
  mutating func show(_ frame: MediaBuffer) {
    (awaitsKeyframe, isBlack) = (false, false)
    guard !isRaw else {
      last = frame
      return
    }
    if !frame.isDelta { keyframe = frame }
    if caps != frame.caps {
      caps = frame.caps
      frame.caps.bytes("codec_data").map { data in data.withUnsafeBytes { maker?.configure($0) } }
      if codec == .av1, let size { AV1Black.prepare(size) }
    }
    frame.withUnsafeBytes { maker?.follow($0) }
  }

  /// Nothing stands in any more: a frame is not to be kept for as long as others are written.
  mutating func forget() { (last, keyframe, maker) = (nil, nil, nil) }

  /// The next stand-in; nil when there is nothing to show.
  mutating func next() -> MediaBuffer? {
    if isRaw { return last ?? black() }
    if let caps, let held = maker?.repeatFrame() {
      return held.bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil, isDelta: true) }
    }
    // An old frame rather than a file that does not go on; what comes next has to begin anew.
    awaitsKeyframe = keyframe != nil
    return keyframe
  }

  /// Whether the stream's format leaves a way to black.
  var canBlacken: Bool { isRaw || blackKeyframe() != nil }

  /// A black frame of the size shown last, which is to be shown and then stands in; nil where the stream's format
  /// leaves no way, before its first keyframe, and while it is black already.
  /// - Parameter anew: also while it is.
  mutating func blacken(anew: Bool = false) -> MediaBuffer? {
    guard anew || !isBlack, let black = isRaw ? black() : blackKeyframe() else { return nil }
    show(black)
    // What comes next may need frames from before, which decoders do not have any more.
    (isBlack, awaitsKeyframe) = (true, !isRaw)
    return black
  }

  private func blackKeyframe() -> MediaBuffer? {
    let bytes = codec == .av1 ? size.flatMap(AV1Black.keyframe) : maker?.blackKeyframe()
    guard let caps, let bytes else { return nil }
    return bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
  }

  private mutating func black() -> MediaBuffer? {
    let size = last.flatMap { VideoFrameBuffer($0) }.map { (width: $0.width, height: $0.height) }
    last = .blackFrame(width: size?.width ?? Int(blackSize.width), height: size?.height ?? Int(blackSize.height))
    return last
  }
}
