import Foundation
import GStreamerKit
import MediaCore

// OpenCV is large, and its part of the build optional: see Package.swift.
#if MEDIABRIDGE_OPENCV
  import CSegmentation

  /// A network that tells people from what is around them, run by OpenCV.
  ///
  /// `@unchecked Sendable`: the network is used by one thread at a time, inside of `turn`, and freed with this.
  final class PersonSegmentation: @unchecked Sendable {
    static let isBuilt = true
    private let network: OpaquePointer
    private let turn = Locked(())

    /// - Throws: `invalidParameter` with what is wrong with the model.
    init(_ model: BackgroundBlurVideoProcessor.Model) throws(LiveKitError) {
      let input = segmentation_input(
        width: model.inputSize.width, height: model.inputSize.height, mean: model.mean, scale: model.scale)
      var reason = Reason()
      guard let network = reason.take({ segmentation_new(model.path, input, $0, $1) }) else {
        throw LiveKitError(.invalidParameter, "\(model.path) is no model that OpenCV reads: \(reason)")
      }
      self.network = network
    }

    deinit { segmentation_free(network) }

    /// - Parameters:
    ///   - bytes: a frame in I420 in the layout of its caps, which is changed in place.
    ///   - detail: pixels across that are left where no person is.
    func blur(_ bytes: inout [UInt8], width: Int, height: Int, detail: Int) throws(LiveKitError) {
      var reason = Reason()
      let result = turn.withLock { _ in
        bytes.withUnsafeMutableBufferPointer { bytes in
          reason.take {
            segmentation_blur(network, bytes.baseAddress, Int32(width), Int32(height), Int32(detail), $0, $1)
          }
        }
      }
      guard result == 0 else { throw LiveKitError(.pipeline, "the model cannot be run: \(reason)") }
    }
  }

  /// Why OpenCV cannot do something.
  private struct Reason: CustomStringConvertible {
    private var text = [CChar](repeating: 0, count: 400)

    mutating func take<Result>(_ body: (UnsafeMutablePointer<CChar>?, Int) -> Result) -> Result {
      text.withUnsafeMutableBufferPointer { body($0.baseAddress, $0.count) }
    }

    var description: String {
      let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).joined(separator: " ")
    }
  }
#else
  /// Of which there is none in this build.
  struct PersonSegmentation: Sendable {
    static let isBuilt = false
    private static let missing = LiveKitError(
      .notBuilt,
      "this build cannot tell people from what is around them: install the Debian packages libopencv-dnn-dev and "
        + "libopencv-imgproc-dev, and build with MEDIABRIDGE_OPENCV=1")

    init(_ model: BackgroundBlurVideoProcessor.Model) throws(LiveKitError) { throw Self.missing }

    func blur(_ bytes: inout [UInt8], width: Int, height: Int, detail: Int) throws(LiveKitError) { throw Self.missing }
  }
#endif
