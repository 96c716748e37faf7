package import PipelineTemplates

// What a text that mixes may leave out where nobody asks for it.
extension FilledTemplate {
  /// - Throws: it has no element that shows labels.
  package func checkCaption() throws(PipelineFailure) {
    try check(Caption.element, "textoverlay", "show labels and captions")
  }

  /// - Throws: it has no element by which audio is heard left or right alone.
  package func checkChannels() throws(PipelineFailure) {
    try check(MixVoice.Channel.element, "audioconvert", "have anybody heard left or right alone")
  }

  /// - Throws: it has no element that shows a logo.
  package func checkLogo() throws(PipelineFailure) {
    try check(MixPipeline.logo, "gdkpixbufoverlay", "show a logo")
  }

  private func check(_ element: String, _ factory: String, _ purpose: String) throws(PipelineFailure) {
    guard !elements.contains(where: { $0.name == element }) else { return }
    throw PipelineFailure(
      .template,
      "\(file) cannot \(purpose): it has no element called \(element); put in one, such as the \(factory) of the "
        + "template \(kind.rawValue)/\(name) that is shipped")
  }
}
