package import PipelineTemplates

/// Which pipeline template: its kind and name.
package struct TemplateName: Hashable, Sendable, CustomStringConvertible {
  /// The folder of the template.
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
  ///   - templates: which the values are for; each takes those that it has variables for.
  ///   - values: what the program derives.
  /// - Throws: `invalidParameter` for a name that none of the templates has, `template` for a value that one cannot
  ///   take.
  package func check(_ templates: [TemplateName], values: [String: String] = [:]) throws(PipelineFailure) {
    guard !overrides.isEmpty else { return }
    let names = try templates.map { template throws(PipelineFailure) in try variables(of: template) }
    let known = Set(names.joined())
    for name in overrides.keys.sorted() where !known.contains(name) {
      throw UnknownVariable(name: name, templates: templates, known: known.sorted()).error
    }
    for (template, own) in zip(templates, names) where !own.isDisjoint(with: overrides.keys) {
      try build(template, values)
    }
  }

  /// Finds elements that are not installed, before anything is joined or opened.
  /// - Parameters:
  ///   - templates: as they were read.
  ///   - values: what the program derives.
  /// - Throws: `missingElement`, with the line of each and what to install.
  package func checkElements(of templates: [Template], values: [String: String]) throws(PipelineFailure) {
    for template in templates {
      let filled = try fill(template, values: values)
      // Only GStreamer knows whether it is lost without them.
      if !filled.missingElements.isEmpty { _ = try make(filled) }
    }
  }

  /// The same of templates as they are there now.
  package func checkElements(of templates: [TemplateName], values: [String: String] = [:]) throws(PipelineFailure) {
    for name in templates { try checkElements(of: [template(name.kind, name.name)], values: values) }
  }

  package func variables(of template: TemplateName) throws(PipelineFailure) -> Set<String> {
    Set(try self.template(template.kind, template.name).variables.map(\.name))
  }

  /// Every template of a kind that is not hidden by another.
  package func names(of kind: TemplateKind) throws(PipelineFailure) -> [TemplateName] {
    try list([kind]).filter { $0.shadowedBy == nil }.map { TemplateName(kind, $0.name) }
  }

  /// A pipeline that is built and not run shows what its elements refuse.
  private func build(_ template: TemplateName, _ values: [String: String]) throws(PipelineFailure) {
    guard let mistake = mistake(in: template, values, overrides) else { return }
    // A template that is wrong without any value says so when it is used.
    guard self.mistake(in: template, values, [:]) == nil else { return }
    for (name, value) in overrides.sorted(by: { $0.key < $1.key }) {
      guard let mistake = self.mistake(in: template, values, [name: value]) else { continue }
      throw PipelineFailure(
        mistake.kind, "'\(value)' is no value for `\(name)`: \(mistake.message)", underlying: mistake.underlying)
    }
    throw mistake
  }

  private func mistake(
    in template: TemplateName, _ values: [String: String], _ overrides: [String: String]
  ) -> PipelineFailure? {
    do throws(PipelineFailure) {
      _ = try PipelineFactory(store: store, overrides: overrides).make(template.kind, template.name, values: values)
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

/// A value for a variable that none of the templates has that it could be for.
package struct UnknownVariable {
  package var name: String
  package var templates: [TemplateName]
  /// The variables that there are.
  package var known: [String]

  package init(name: String, templates: [TemplateName], known: [String]) {
    self.name = name
    self.templates = templates
    self.known = known
  }

  package var error: PipelineFailure {
    let looked = templates.map(\.description).joined(separator: ", ")
    let nearest = NearestName.of(name, in: known).map { "did you mean '\($0)'? " } ?? ""
    let advice = templates.first.map { "`mediabridge pipelines show \($0)` lists those of a template" } ?? ""
    return PipelineFailure(
      .value, "no variable '\(name)' in \(looked.isEmpty ? "any template" : looked); \(nearest)\(advice)")
  }
}
