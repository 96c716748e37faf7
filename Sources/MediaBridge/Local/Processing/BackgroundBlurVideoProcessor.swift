import Foundation
import GStreamerKit
import MediaCore

/// Blurs what is not a person. For one track. It takes a model of your choice, since none is shipped, and a build with
/// OpenCV: `MEDIABRIDGE_OPENCV=1 swift build`, with the Debian packages `libopencv-dnn-dev` and `libopencv-imgproc-dev`.
///
/// Every frame goes through the model. What that takes for a person is seen, whatever it is: the processor is as good as its
/// model. Where it fails nothing is sent any more, and ``failure`` says why; unmuting the track begins anew.
public final class BackgroundBlurVideoProcessor: VideoProcessor {
  /// A model that tells people from what is around them, in ONNX. It takes one image in RGB (1 x 3 x height x width), and
  /// says of each place whether a person is there: in one channel from 0 to 1, or in two, of which the second is larger.
  public struct Model: Sendable, Hashable {
    /// Of the file.
    public var path: String
    /// Pixels of the image that it takes.
    public var inputSize: Dimensions
    /// Taken from each sample, 0…255, before it is multiplied by `scale`.
    public var mean: Double
    /// See `mean`.
    public var scale: Double

    /// Without further arguments for samples of 0…1; some models take -1…1: a mean of 127.5 and a scale of 1/127.5.
    public init(
      path: String, inputSize: Dimensions = Dimensions(width: 256, height: 256), mean: Double = 0,
      scale: Double = 1.0 / 255
    ) {
      (self.path, self.inputSize, self.mean, self.scale) = (path, inputSize, mean, scale)
    }
  }

  /// Whether this build has what it takes.
  public static var isAvailable: Bool { PersonSegmentation.isBuilt }

  private let segmentation: PersonSegmentation
  private let detail: Int
  private let failed = Locked<LiveKitError?>(nil)

  /// - Parameters:
  ///   - model: which model tells people from the rest.
  ///   - detail: the background shows as much as a frame that is so many pixels wide, 1…1000.
  /// - Throws: `notBuilt` where this build is without OpenCV, `invalidParameter` for a model that is not there or cannot be
  ///   read.
  public init(model: Model, detail: Int = 40) throws(LiveKitError) {
    segmentation = try Self.read(model)
    self.detail = min(max(detail, 1), 1000)
  }

  /// The same with a model that takes images of 256 x 256 with samples of 0…1.
  public convenience init(model path: String) throws(LiveKitError) { try self.init(model: Model(path: path)) }

  private static func read(_ model: Model) throws(LiveKitError) -> PersonSegmentation {
    guard isAvailable else { return try PersonSegmentation(model) }
    guard FileManager.default.isReadableFile(atPath: model.path) else {
      throw LiveKitError(.invalidParameter, "there is no model \(model.path) that can be read: give a file in ONNX")
    }
    guard (1...4096).contains(model.inputSize.width), (1...4096).contains(model.inputSize.height) else {
      throw LiveKitError(.invalidParameter, "no model takes images of \(model.inputSize): give what yours takes")
    }
    return try PersonSegmentation(model)
  }

  /// Why nothing comes of frames any more; nil while something does.
  public var failure: LiveKitError? { failed.withLock { $0 } }

  /// - Returns: the frame with its background blurred, upright, in I420; nil once it has failed.
  public func process(frame: VideoFrame) -> VideoFrame? {
    guard failure == nil else { return nil }
    do {
      let plain = try frame.buffer.converted(to: .i420)
      guard var bytes = plain.packed(isAligned: true) else {
        throw LiveKitError(.pipeline, "a frame cannot be read: \(plain.media.caps)")
      }
      let size = frame.uprightSize
      try segmentation.blur(&bytes, width: Int(size.width), height: Int(size.height), detail: detail)
      let caps = plain.media.caps.with("width", Int(size.width)).with("height", Int(size.height))
      let media = bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: frame.time) }
      return VideoFrame(CapturedMedia(media: media, time: frame.time))
    } catch {
      failed.withLock { $0 = (error as? LiveKitError) ?? LiveKitError(.pipeline, "\(error)", underlying: error) }
      return nil
    }
  }

  /// Forgets a failure.
  public func pause() async { failed.withLock { $0 = nil } }
}
