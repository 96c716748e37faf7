import Egress
import MediaBridge
import MediaCore

/// Makes of frames what a reader gets: in its format, at its size, at its rate. It waits for nobody.
struct FrameMaker {
  /// What is asked for.
  struct Request: Sendable {
    var format: RawFormat
    /// Nil for the size of the first frame.
    var size: Dimensions?
    /// Nil for frames as they come.
    var fps: Int?
    var duration: Duration?
    /// Whether rows are laid out as GStreamer takes for granted, and caps say what they are.
    var isShared = false
  }

  /// One frame for the reader.
  struct Made: Sendable {
    enum Content: Sendable {
      case bytes([UInt8])
      /// In its format and size, for readers that share a memory.
      case frame(VideoFrame)
    }
    var content: Content
    /// Since the first one.
    var time: Duration
    var size: Dimensions
    var isRepeated = false
  }

  let request: Request
  /// When the first frame was.
  private(set) var start: MediaTime?
  /// Of all frames, but for images, which may have their own.
  private var size: Dimensions?
  private var fitter: VideoFrameFitter?
  private var pace: FramePace?
  private var newest: Made?
  private var colorimetry: String?
  /// How many frames came when their places were filled.
  private(set) var late = 0

  init(_ request: Request) {
    self.request = request
    pace = request.fps.map { FramePace(rate: $0) }
  }

  /// Whether all is there that was asked for.
  private(set) var isDone = false

  /// What the reader gets for a frame: with a rate the one before, too, or nothing.
  mutating func take(_ frame: VideoFrame, at moment: MediaTime) throws(LiveKitError) -> [Made] {
    let start = start ?? moment
    self.start = start
    let time = max(moment - start, .zero)
    guard var pace else {
      guard isWanted(time) else { return [] }
      return [try make(frame, at: time)]
    }
    let (repeats, place, isLate) = pace.take(time)
    self.pace = pace
    var made = repeated(repeats)
    if let place, isWanted(pace.time(of: place)) { made.append(try make(frame, at: pace.time(of: place))) }
    if isLate, !isDone {
      // What is repeated from now on is late, and does not stand still.
      _ = try make(frame, at: time)
      late += 1
    }
    return made
  }

  /// The newest frame again, where a rate is asked for and none has come; and it may be done without another one.
  /// - Parameter time: up to which none comes any more.
  mutating func fill(upTo time: MediaTime) -> [Made] {
    guard let start else { return [] }
    guard let places = pace?.fill(upTo: time - start) else {
      // The time passes without frames, too.
      _ = isWanted(time - start)
      return []
    }
    return repeated(places)
  }

  private mutating func isWanted(_ time: Duration) -> Bool {
    let isWanted = request.duration.map { time < $0 } ?? true
    if !isWanted { isDone = true }
    return isWanted
  }

  private mutating func repeated(_ places: Range<Int>) -> [Made] {
    guard let pace, var again = newest else { return [] }
    again.isRepeated = true
    return places.compactMap { place in
      again.time = pace.time(of: place)
      return isWanted(again.time) ? again : nil
    }
  }

  private mutating func make(_ frame: VideoFrame, at time: Duration) throws(LiveKitError) -> Made {
    let size = try fittedSize(of: frame)
    let fitted = try fitter?.fit(frame) ?? frame
    colorimetry = colorimetry ?? fitted.colorimetry
    let made = Made(content: try content(of: fitted), time: time, size: size)
    if pace != nil { newest = made }
    return made
  }

  private mutating func fittedSize(of frame: VideoFrame) throws(LiveKitError) -> Dimensions {
    if request.format.isImage, request.size == nil { return frame.uprightDimensions }
    let size = size ?? request.size ?? frame.uprightDimensions
    if fitter == nil { fitter = VideoFrameFitter(format: request.format.pixelFormat ?? .rgb, size: size) }
    self.size = size
    return size
  }

  /// What a reader is to know before all else.
  func header(_ size: Dimensions) -> [UInt8] {
    let fps = request.fps ?? 0
    return request.isShared
      ? Array(request.format.caps(size, fps: fps, colorimetry).utf8) : request.format.header(size, fps: fps)
  }

  private func content(of frame: VideoFrame) throws(LiveKitError) -> Made.Content {
    switch request.format {
    case .png: return .bytes(Array(try frame.pngData()))
    case .jpeg: return .bytes(Array(try frame.jpegData()))
    case _ where request.isShared: return .frame(frame)
    default:
      guard let bytes = frame.packed(behind: request.format.frameHeader) else {
        throw LiveKitError(.pipeline, "a frame cannot be read")
      }
      return .bytes(bytes)
    }
  }
}
