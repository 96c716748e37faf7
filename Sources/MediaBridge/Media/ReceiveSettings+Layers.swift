import Logging
import MediaCore
import MediaPipelines
import PipelineTemplates

// VP9 in spatial layers: several frames a picture, which come one behind the other without an index.
extension ReceiveSettings {
  /// Files of templates of which it was told that they give way; each once in the life of the process.
  private static let told = Locked<Set<String>>([])

  /// Where the template is looked for: inside the program alone, once frames come in spatial layers that the one which
  /// is there would not decode.
  func source() throws(LiveKitError) -> PipelineFactory {
    // Without them nothing is read twice.
    guard form.isLayered else { return factory }
    let template = try fill(from: factory)
    guard template.losesLayers else { return factory }
    tell(of: template)
    let builtIn = TemplateStore(searchPath: TemplateSearchPath(folders: [.builtIn]))
    return PipelineFactory(store: builtIn, overrides: factory.overrides)
  }

  /// The template as it is there now.
  func fill() throws(LiveKitError) -> FilledTemplate { try fill(from: source()) }

  private func fill(from factory: PipelineFactory) throws(LiveKitError) -> FilledTemplate {
    try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.fill(.receive, codec, values: values) }
  }

  private func tell(of template: FilledTemplate) {
    guard Self.told.withLock({ $0.insert(template.file).inserted }) else { return }
    logger.warning(
      "video in spatial layers is received by the built-in template: of decoders only vp9dec takes all of them",
      metadata: ["track": "\(trackSid)", "template": "\(template.file)"])
  }
}

extension FilledTemplate {
  /// Whether it hands out frames of the lowest spatial layer alone.
  ///
  /// libvpx goes on behind a picture's first frame. vp9parse, by which decoders of hardware are fed, and FFmpeg need an
  /// index for that. With one GStreamer's decoders of hardware would show each layer, since all are marked as shown, or
  /// drop the upper ones for their size.
  fileprivate var losesLayers: Bool {
    elements.contains { $0.name == ReceivePipeline.Output.frames.rawValue }
      && !elements.contains { $0.factory == "vp9dec" }
  }
}
