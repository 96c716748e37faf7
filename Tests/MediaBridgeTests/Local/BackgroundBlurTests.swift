import BridgeTesting
import Foundation
import MediaBridge
import Testing

/// Blurring what is no person, by models that take what is bright for one.
@Suite struct BackgroundBlurTests {
  /// A convolution and a sigmoid: 1 where a place is brighter than the middle.
  private static let oneChannel = """
    CAYSADqlAQopCgF4CgF3CgFiEgFjIgRDb252KhUKDGtlcm5lbF9zaGFwZUABQAGgAQcKDwoBYxIBeSIHU2lnbW9pZBIBZyobCAEIAwgBCAEQAUIBd0oM\
    VVXVQFVV1UBVVdVAKg0IARABQgFiSgQAACDBWhsKAXgSFgoUCAESEAoCCAEKAggDCgIIEAoCCBBiGwoBeRIWChQIARIQCgIIAQoCCAEKAggQCgIIEEIE\
    CgAQCw==
    """
  /// A convolution alone: the second channel is larger there.
  private static let twoChannels = """
    CAYSADqkAQopCgF4CgF3CgFiEgF5IgRDb252KhUKDGtlcm5lbF9zaGFwZUABQAGgAQcSAWcqJwgCCAMIAQgBEAFCAXdKGFVV1cBVVdXAVVXVwFVV1UBV\
    VdVAVVXVQCoRCAIQAUIBYkoIAAAgQQAAIMFaGwoBeBIWChQIARIQCgIIAQoCCAMKAggQCgIIEGIbCgF5EhYKFAgBEhAKAggBCgIIAgoCCBAKAggQQgQK\
    ABAL
    """

  private let folder: TemporaryFolder
  private var file: String { folder.path + "/model.onnx" }

  init() throws { folder = try TemporaryFolder() }

  private func processor(_ model: String) throws -> BackgroundBlurVideoProcessor {
    try #require(Data(base64Encoded: model)).write(to: URL(fileURLWithPath: file))
    return try BackgroundBlurVideoProcessor(
      model: .init(path: file, inputSize: Dimensions(width: 16, height: 16)), detail: 20)
  }

  /// Stripes that are bright on the left and dark on the right.
  private func frame() throws -> VideoFrame {
    let luma = (0..<181).flatMap { row in
      (0..<321).map { column -> UInt8 in
        switch (column < 160, row / 4 % 2) {
        case (true, 0): 200
        case (true, _): 235
        case (false, 0): 16
        default: 60
        }
      }
    }
    let chroma = [UInt8](repeating: 128, count: 161 * 91 * 2)
    return try #require(VideoFrame(i420: luma + chroma, width: 321, height: 181))
  }

  private func contrast(_ frame: VideoFrame, at column: Int) -> Int {
    let rows = frame.buffer.withPlanes { planes in
      planes[0].map { plane in (30..<150).map { Int(plane.bytes[$0 * plane.stride + column]) } }
    }
    guard let rows = rows ?? nil, let most = rows.max(), let least = rows.min() else { return -1 }
    return most - least
  }

  @Test(
    .enabled(if: BackgroundBlurVideoProcessor.isAvailable, "built with MEDIABRIDGE_OPENCV=1"),
    arguments: [oneChannel, twoChannels])
  func whatIsNoPersonIsBlurred(_ model: String) throws {
    let (processor, frame) = (try processor(model), try frame())
    let blurred = try #require(processor.process(frame: frame), "\(processor.failure?.message ?? "")")
    #expect(blurred.dimensions == frame.dimensions && blurred.time == frame.time)
    #expect([40, 80, 120].allSatisfy { contrast(blurred, at: $0) == 35 })
    #expect([200, 240, 300].allSatisfy { contrast(blurred, at: $0) < 6 })
  }

  @Test(.enabled(if: BackgroundBlurVideoProcessor.isAvailable, "built with MEDIABRIDGE_OPENCV=1"))
  func aModelThatIsNoneIsTold() throws {
    let missing = #expect(throws: LiveKitError.self) { try BackgroundBlurVideoProcessor(model: file) }
    #expect(missing?.code == .invalidParameter && missing?.message.contains(file) == true)
    try "no model".write(toFile: file, atomically: true, encoding: .utf8)
    let wrong = #expect(throws: LiveKitError.self) { try BackgroundBlurVideoProcessor(model: file) }
    #expect(wrong?.code == .invalidParameter && wrong?.message.contains("ONNX") == true)
  }

  @Test(.disabled(if: BackgroundBlurVideoProcessor.isAvailable, "built with MEDIABRIDGE_OPENCV=1"))
  func aBuildWithoutItSaysWhatIsMissing() {
    let error = #expect(throws: LiveKitError.self) { try processor(Self.oneChannel) }
    #expect(error?.code == .notBuilt && error?.fault == .machine)
    #expect(["libopencv-dnn-dev", "MEDIABRIDGE_OPENCV=1"].allSatisfy { error?.message.contains($0) == true })
  }
}
