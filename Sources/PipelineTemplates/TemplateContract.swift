extension FilledTemplate {
  /// What the description lacks of the elements by whose names Swift and template meet; nil when all are there.
  public var contractViolation: String? {
    let names = Set(elements.compactMap(\.name))
    if let missing = kind.contract.first(where: { names.isDisjoint(with: $0.names) }) {
      return "\(kind.withArticle) pipeline needs \(missing.what) \(missing.spokenNames)"
    }
    return kind == .receive ? missingTee(names) : nil
  }

  /// The line that is to be looked at for it: that of the element whose name is like a missing one, or of the first.
  public var contractLine: Int? {
    let own = elements.compactMap(\.name)
    let missing = kind.contract.map(\.names).first { Set($0).isDisjoint(with: own) } ?? []
    let nearest = missing.lazy.compactMap { NearestName.of($0, in: own) }.first
    return (elements.first { nearest != nil && $0.name == nearest } ?? elements.first)?.line
  }

  /// The outputs of a receive template hang on tees.
  private func missingTee(_ names: Set<String>) -> String? {
    for sink in ["encoded", "frames", "pcm"] {
      guard let tee = branch(endingIn: sink)?.tee, !names.contains(tee) else { continue }
      return "the branch to \"\(sink)\" begins at \"\(tee).\", and nothing is called \(tee)"
    }
    return nil
  }
}

/// Elements of which a template has at least one.
private struct Requirement {
  var what: String
  var names: [String]

  var spokenNames: String {
    names.count < 2 ? names.joined() : names.dropLast().joined(separator: ", ") + " or " + names[names.count - 1]
  }
}

extension TemplateKind {
  /// The names by which Swift looks for elements of such a template, whether it has to have them or may.
  var contractNames: Set<String> {
    let more: [String] =
      switch self {
      case .receive: ["jitter"]
      case .process: ["initials", "label", "size"]
      case .mix: ["logo", "caption"]
      case .tile: ["crop", "size", "label", "caption", "channels"]
      case .output: ["audio-N", "captions", "segments", "window", "size", "crop", "debug", "upright", "mirror"]
      case .encode: ["encoder"]
      case .capture: ["encoded-audio", "paced"]
      case .send, .decode: []
      }
    return Set(contract.flatMap(\.names) + more)
  }

  /// What goes in, and what comes out. An `output` ends in whatever its template says, a `capture` begins with that,
  /// and a `tile` has an open end, which Swift links to the mixer.
  fileprivate var contract: [Requirement] {
    let raw = ["frames", "pcm"]
    switch self {
    case .receive: return [source(["rtp"]), sink(raw + ["encoded"])]
    case .process: return [source(raw), sink(["processed"])]
    case .mix: return [Requirement(what: "a mixer called", names: ["videomix", "audiomix"]), sink(raw)]
    case .tile: return [source(["video", "audio"])]
    case .decode: return [source(["encoded"]), sink(raw)]
    case .encode: return [source(raw), sink(["encoded"])]
    case .send: return [source(["encoded"]), sink(["rtp"])]
    case .output:
      let names = ["video", "audio", "videomix", "audiomix"]
      return [Requirement(what: "an appsrc or a mixer called", names: names)]
    // Clips of tests and benchmarks are RTP at once, as video.
    case .capture: return [sink(raw + ["encoded", "encoded-audio", "video"])]
    }
  }

  private func source(_ names: [String]) -> Requirement { Requirement(what: "an appsrc called", names: names) }
  private func sink(_ names: [String]) -> Requirement { Requirement(what: "an appsink called", names: names) }

  fileprivate var withArticle: String { (["output", "encode"].contains(self.rawValue) ? "an " : "a ") + rawValue }
}
