package import GStreamerKit
import MediaCore
import PipelineTemplates

/// Makes the frames that are seen of who has no camera, by the template `process/placeholder`.
package struct PlaceholderPainter: Sendable {
  /// The template that it uses.
  package static let template = TemplateName(.process, "placeholder")

  private let filled: FilledTemplate
  private let factory: PipelineFactory

  /// - Throws: what is wrong with the template, before the first frame is wanted.
  package init(factory: PipelineFactory) throws(PipelineFailure) {
    self.factory = factory
    filled = try factory.fill(Self.template.kind, Self.template.name, values: [:])
    _ = try factory.make(filled)
  }

  /// Some milliseconds on the calling thread.
  /// - Parameter name: nil writes none.
  package func paint(
    _ initials: String, _ name: String?, on color: FrameColor, size: PixelSize
  ) throws(PipelineFailure) -> VideoFrameBuffer? {
    guard let plain = MediaBuffer.plainFrame(color, width: size.width, height: size.height) else { return nil }
    let pipeline = try factory.make(filled).pipeline
    for (element, words) in [("initials", initials), ("label", name)] {
      FrameFitting(overlayName: element) { try? pipeline.element(named: $0) }.write(words)
    }
    do {
      return VideoFrameBuffer(try pipeline.process(plain, from: "frames", to: "processed", at: .now))
    } catch { throw PipelineFailure(error, in: filled) }
  }
}
