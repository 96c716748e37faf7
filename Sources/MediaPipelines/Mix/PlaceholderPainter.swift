package import GStreamerKit
import MediaCore
import PipelineTemplates

/// Makes the frames that are seen of who has no camera, by the template `process/placeholder`, and keeps them: a layout
/// that changes asks for the same ones again and again.
package struct PlaceholderPainter: Sendable {
  private struct Placeholder: Hashable {
    var initials: String
    var name: String?
    var color: FrameColor
    var size: PixelSize
  }

  /// The template that it uses.
  package static let template = TemplateName(.process, "placeholder")

  private let filled: FilledTemplate
  private let factory: PipelineFactory
  private let painted = Locked<[Placeholder: VideoFrameBuffer]>([:])
  /// So many are kept.
  private static let limit = 64

  /// - Throws: what is wrong with the template, before the first frame is wanted.
  package init(factory: PipelineFactory) throws(PipelineFailure) {
    self.factory = factory
    filled = try factory.fill(Self.template.kind, Self.template.name, values: [:])
    _ = try factory.make(filled)
  }

  /// Some milliseconds on the calling thread for one that was not made before.
  /// - Parameter name: nil writes none.
  package func paint(
    _ initials: String, _ name: String?, on color: FrameColor, size: PixelSize
  ) throws(PipelineFailure) -> VideoFrameBuffer? {
    let placeholder = Placeholder(initials: initials, name: name, color: color, size: size)
    if let known = painted.withLock({ $0[placeholder] }) { return known }
    guard let frame = try paint(placeholder) else { return nil }
    painted.withLock { painted in
      if painted.count >= Self.limit { painted = [:] }
      painted[placeholder] = frame
    }
    return frame
  }

  private func paint(_ placeholder: Placeholder) throws(PipelineFailure) -> VideoFrameBuffer? {
    let (color, size) = (placeholder.color, placeholder.size)
    guard let plain = MediaBuffer.plainFrame(color, width: size.width, height: size.height) else { return nil }
    let pipeline = try factory.make(filled).pipeline
    for (element, words) in [("initials", placeholder.initials), ("label", placeholder.name)] {
      FrameFitting(overlayName: element) { try? pipeline.element(named: $0) }.write(words)
    }
    do {
      return VideoFrameBuffer(try pipeline.process(plain, from: "frames", to: "processed", at: .now))
    } catch { throw PipelineFailure(error, in: filled) }
  }
}
