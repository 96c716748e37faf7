import GStreamerKit

/// Keyframes, when they are asked for, of an encoder that passes such requests over, as av1enc of GStreamer 1.22 does: for a
/// moment each frame is to be one. The frame behind it is one, too, since by then it has been decided.
struct KeyframesByInterval: Sendable {
  private static let interval = "keyframe-max-dist"

  private let encoder: Element
  /// As the template has it.
  private let usual: Int

  /// Nil for an encoder that does as it is asked.
  init?(of made: TemplatePipeline) {
    guard let encoder = try? made.pipeline.element(named: "encoder"), encoder.factory == "av1enc",
      let usual = encoder.int(Self.interval)
    else { return nil }
    (self.encoder, self.usual) = (encoder, usual)
  }

  /// May wait for the encoder.
  func request() { set(0) }

  /// To be called with each keyframe that comes out, whether it was asked for or not: so no request is kept, and none can
  /// cross another one.
  func noteKeyframe() { set(usual) }

  // An element has the property: it was read.
  private func set(_ interval: Int) { try? encoder.set(Self.interval, to: interval) }
}
