package import PipelineTemplates

/// Which pipeline text: its kind and name.
package struct PipelineTextName: Hashable, Sendable, CustomStringConvertible {
  /// The folder of the text.
  package var kind: TemplateKind
  /// That of the file, without `.pipeline`.
  package var name: String

  /// - Parameter name: that of the file, without `.pipeline`.
  package init(_ kind: TemplateKind, _ name: String) {
    self.kind = kind
    self.name = name
  }

  /// As `mediabridge pipelines show` takes it.
  package var description: String { "\(kind.rawValue)/\(name)" }
}

extension PipelineFactory {
  /// Finds mistakes in the values that a person has set, before anything is joined or opened.
  /// - Parameters:
  ///   - texts: which the values are for; each takes those that it has variables for.
  ///   - values: what the program derives.
  /// - Throws: `invalidParameter` for a name that none of the texts has, `template` for a value that one cannot take.
  package func check(_ texts: [PipelineTextName], values: [String: String] = [:]) throws(LiveKitError) {
    guard !overrides.isEmpty else { return }
    let names = try texts.map { text throws(LiveKitError) in try variables(of: text) }
    let known = Set(names.joined())
    for name in overrides.keys.sorted() where !known.contains(name) {
      throw UnknownVariable(name: name, texts: texts, known: known.sorted()).error
    }
    for (text, own) in zip(texts, names) where !own.isDisjoint(with: overrides.keys) { try build(text, values) }
  }

  func variables(of text: PipelineTextName) throws(LiveKitError) -> Set<String> {
    Set(try self.text(text.kind, text.name).variables.map(\.name))
  }

  /// Every text of a kind that is not hidden by another.
  func names(of kind: TemplateKind) throws(LiveKitError) -> [PipelineTextName] {
    try list([kind]).filter { $0.shadowedBy == nil }.map { PipelineTextName(kind, $0.name) }
  }

  /// A pipeline that is built and not run shows what its elements refuse.
  private func build(_ text: PipelineTextName, _ values: [String: String]) throws(LiveKitError) {
    guard let mistake = mistake(in: text, values, overrides) else { return }
    // A text that is wrong without any value says so when it is used.
    guard self.mistake(in: text, values, [:]) == nil else { return }
    for (name, value) in overrides.sorted(by: { $0.key < $1.key }) {
      guard let mistake = self.mistake(in: text, values, [name: value]) else { continue }
      throw LiveKitError(mistake.code, "'\(value)' is no value for `\(name)`: \(mistake.message)")
    }
    throw mistake
  }

  private func mistake(
    in text: PipelineTextName, _ values: [String: String], _ overrides: [String: String]
  ) -> LiveKitError? {
    do throws(LiveKitError) {
      _ = try PipelineFactory(store: store, overrides: overrides).make(text.kind, text.name, values: values)
      return nil
    } catch {
      return error
    }
  }

  /// - Parameter store: that of another factory, so that both find the same.
  package init(store: TemplateStore, overrides: [String: String]) {
    self.store = store
    self.overrides = overrides
  }
}

/// A value for a variable that none of the texts has that it could be for.
package struct UnknownVariable {
  package var name: String
  package var texts: [PipelineTextName]
  /// The variables that there are.
  package var known: [String]

  package init(name: String, texts: [PipelineTextName], known: [String]) {
    self.name = name
    self.texts = texts
    self.known = known
  }

  package var error: LiveKitError {
    let looked = texts.map(\.description).joined(separator: ", ")
    let nearest = NearestName.of(name, in: known).map { "did you mean '\($0)'? " } ?? ""
    let advice = texts.first.map { "`mediabridge pipelines show \($0)` lists those of a text" } ?? ""
    return LiveKitError(
      .invalidParameter, "no variable '\(name)' in \(looked.isEmpty ? "any text" : looked); \(nearest)\(advice)")
  }
}
