extension FilledTemplate {
  /// What the description lacks of the elements by whose names Swift and text meet; nil when all are there.
  public var contractViolation: String? {
    let names = Set(elements.compactMap(\.name))
    switch kind {
    case .receive:
      if !names.contains("rtp") { return "a receive pipeline needs \"appsrc name=rtp\"" }
      if names.isDisjoint(with: ["frames", "pcm", "encoded"]) {
        return "a receive pipeline needs an appsink called frames, pcm or encoded"
      }
      for sink in ["encoded", "frames", "pcm"] {
        guard let tee = branch(endingIn: sink)?.tee, !names.contains(tee) else { continue }
        return "the branch to \"\(sink)\" begins at \"\(tee).\", and nothing is called \(tee)"
      }
    case .output:
      if names.isDisjoint(with: ["video", "audio", "videomix", "audiomix"]) {
        return "an output pipeline needs an appsrc called video or audio, or a mixer called videomix or audiomix"
      }
    case .capture:
      if names.isDisjoint(with: ["video", "audio"]) {
        return "a capture pipeline needs an appsink called video or audio"
      }
    }
    return nil
  }
}
