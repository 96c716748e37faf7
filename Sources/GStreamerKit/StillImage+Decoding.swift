import Foundation
import MediaCore

extension VideoFrameBuffer {
  /// The image of a PNG or JPEG file.
  ///
  /// Blocks its caller while the file is read and decoded.
  /// - Throws: `PipelineError` of kind `cannotRead` when the file cannot be read, of kind `format` when it
  ///   is no such image, of kind
  ///   `missingElements` when GStreamer's decoder is not installed, and what the decoder reports.
  public init(imageFile path: String) throws(PipelineError) {
    let bytes: Data
    do { bytes = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      throw PipelineError(.cannotRead, "\(path) cannot be read: \(error.systemReason)")
    }
    guard let type = Self.imageTypes.first(where: { bytes.starts(with: $0.signature) }) else {
      throw PipelineError(.format, "\(path) is neither a PNG nor a JPEG image")
    }
    guard let caps = Caps(type.caps) else { throw PipelineError(.format, "\(type.caps) are no caps") }
    let media = bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: .now) }
    let text =
      "appsrc name=in ! \(type.decoder) ! videoconvert ! video/x-raw,format=I420 ! appsink name=out sync=false"
    let decoded: MediaBuffer
    do { decoded = try Pipeline(description: text, name: "image").process(media, from: "in", to: "out") } catch {
      if case .missingElements = error.kind { throw error }
      throw PipelineError(.format, "\(path) is damaged: \(error.message)")
    }
    guard let frame = VideoFrameBuffer(decoded) else { throw PipelineError(.format, "\(path) holds no image") }
    self = frame
  }

  private static let imageTypes: [(signature: [UInt8], caps: String, decoder: String)] = [
    ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], "image/png", "pngdec"),
    ([0xff, 0xd8, 0xff], "image/jpeg", "jpegdec"),
  ]
}
