import Foundation
package import GStreamerKit
import MediaCore
package import PipelineTemplates

/// A mix template at work: inputs come and go while it runs, and what they are mixed to comes out at the pace that the
/// template says, whether they bring something or not. Times of what goes in and comes out are `MediaTime`s.
package final class MixPipeline: Sendable {
  /// The agreed name of what mixes frames.
  package static let videoMixer = "videomix"
  /// The agreed name of what mixes audio.
  package static let audioMixer = "audiomix"

  private let made: TemplatePipeline
  /// Found before there are tiles, which have one of that name, too.
  private let caption: Element?

  /// - Parameters:
  ///   - template: of the kind `mix`.
  ///   - onBuffer: called on a streaming thread with what comes out; to return at once.
  ///   - onFailure: told when the pipeline fails while it runs, on the thread that all pipelines share.
  package init(
    _ template: FilledTemplate, factory: PipelineFactory, onBuffer: @escaping @Sendable (MediaBuffer) -> Void,
    onFailure: @escaping @Sendable (PipelineFailure) -> Void
  ) throws(PipelineFailure) {
    made = try factory.make(template)
    caption = try? made.pipeline.element(named: Caption.element)
    try made.sink(made.pipeline.hasElement(Self.videoMixer) ? "frames" : "pcm", onBuffer: onBuffer)
    made.onFailure { failure, _ in onFailure(failure) }
  }

  /// An image above all tiles, which the template's element `logo` draws. Call it before `start()`.
  /// - Parameters:
  ///   - file: an image.
  ///   - opacity: from 0 to 1.
  package func show(logo file: String, at place: TilePlace, opacity: Double) throws(PipelineFailure) {
    let values = [
      // An absolute path is not taken for a quoted one.
      ("location", URL(fileURLWithPath: file).path), ("alpha", "\(opacity)"),
      ("offset-x", "\(place.x)"), ("offset-y", "\(place.y)"),
      ("overlay-width", "\(place.width)"), ("overlay-height", "\(place.height)"),
    ]
    do throws(PipelineError) {
      let logo = try made.pipeline.element(named: "logo")
      for (property, value) in values { try logo.set(property, to: value) }
    } catch { throw PipelineFailure(error, in: made.template) }
  }

  /// What people are told above all tiles, by the template's element `caption`; nil for nothing.
  package func show(label: String?) throws(PipelineFailure) {
    guard let caption else { return try made.template.checkCaption() }
    do throws(PipelineError) { try Caption.write(label ?? "", columns: Caption.columns, over: caption) } catch {
      throw PipelineFailure(error, in: made.template)
    }
  }

  package func start() throws(PipelineFailure) { try made.start() }

  /// A tile that frames are shown in; it is not started.
  package func addTile(_ template: FilledTemplate) throws(PipelineFailure) -> MixTile {
    do { return try MixTile(template, in: made.pipeline) } catch {
      throw PipelineFailure(error, in: template)
    }
  }

  /// An input of audio, which is heard from now on.
  package func addAudio(
    _ template: FilledTemplate, channel: MixVoice.Channel = .both
  ) throws(PipelineFailure) -> MixVoice {
    do { return try MixVoice(template, in: made.pipeline, channel: channel) } catch {
      throw PipelineFailure(error, in: template)
    }
  }

  /// No thread of it is left when this returns.
  package func stop() async { await made.pipeline.stop() }
}
