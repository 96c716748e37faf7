import ArgumentParser
import MediaBridge
import PipelineTemplates

/// `--set`, for the commands that run pipeline texts.
struct SetArguments: ParsableArguments {
  @Option(
    name: .customLong("set"),
    help: ArgumentHelp(
      "Value for a variable of the pipeline texts that this command uses, several times for several of them",
      valueName: "name=value"))
  var pairs: [String] = []

  func validate() throws { _ = try values() }

  private func values() throws -> [String: String] {
    var result: [String: String] = [:]
    for pair in pairs {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else { throw ValidationError("--set \(pair): write name=value") }
      result[String(parts[0])] = String(parts[1])
    }
    return result
  }

  /// Deals the values out: each is for the first group of texts of which one has the variable.
  /// - Throws: for a name that none of them has.
  func values(for groups: [[PipelineTextName]], folder: String?) throws -> [[String: String]] {
    let values = try values()
    var result = groups.map { _ in [String: String]() }
    guard !values.isEmpty else { return result }
    let store = TemplateStore(searchPath: .ofProcess(explicit: folder))
    let known = groups.map { texts in
      Set(texts.compactMap { try? store.find($0.kind, $0.name) }.flatMap(\.variables).map(\.name))
    }
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      guard let group = known.firstIndex(where: { $0.contains(name) }) else {
        let all = UnknownVariable(name: name, texts: groups.flatMap { $0 }, known: Set(known.joined()).sorted())
        throw ValidationError("--set \(name)=\(value): \(all.error.message)")
      }
      result[group][name] = value
    }
    return result
  }

  /// The texts that receive tracks.
  static func receiveTexts(folder: String?) throws -> [PipelineTextName] {
    try TemplateStore(searchPath: .ofProcess(explicit: folder)).list().entries
      .filter { $0.kind == .receive && $0.shadowedBy == nil }.map { PipelineTextName(.receive, $0.name) }
  }
}
