import PipelineTemplates

extension Exercise {
  /// A text, then, each behind a NUL, values for its variables in their order.
  func templates(_ input: [UInt8]) -> Int {
    let pieces = input.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    let values = Array(pieces.dropFirst())
    for (index, value) in values.prefix(8).enumerated() {
      quoted(value, in: LaunchModel.places[index % LaunchModel.places.count])
    }
    fileName(pieces[0], values.first ?? "")
    return TemplateKind.allCases.reduce(0) { $0 + template($1, pieces[0], values) }
  }

  private func template(_ kind: TemplateKind, _ text: String, _ values: [String]) -> Int {
    guard let template = try? Template(kind: kind, name: "t", file: "t", text: text) else { return 0 }
    let lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false).count
    let names = template.variables.map(\.name)
    precondition(Set(names).count == names.count)
    let given = Dictionary(uniqueKeysWithValues: zip(names, values))
    let plain = Dictionary(uniqueKeysWithValues: names.map { ($0, "x") })
    guard let filled = try? template.fill(plain.merging(given) { $1 }) else { return 1 }
    precondition(filled.elements.allSatisfy { (1...lines).contains($0.line) })
    for offset in [0, 1, filled.description.utf8.count] {
      precondition((1...lines).contains(filled.line(atOffset: offset)))
    }
    _ = filled.contractViolation
    // A word that begins with one of these is no element, which is the template's own doing.
    guard !given.values.contains(where: { $0.hasPrefix("-") || $0.hasPrefix("_") }),
      let other = try? template.fill(plain)
    else { return 2 }
    precondition(filled.elements.count == other.elements.count, "a value has become syntax")
    precondition(filled.elements.map(\.properties.count) == other.elements.map(\.properties.count))
    return 3
  }

  /// A value is read back as it was given, and the rest of the pipeline stays what it was.
  private func quoted(_ value: String, in place: LaunchModel.Place) {
    guard let template = try? Template(kind: .output, name: "t", file: "t", text: place.template),
      let filled = try? template.fill(["x": value])
    else { preconditionFailure("a value without a NUL is refused") }
    let read = LaunchModel.read(filled.description)
    precondition(read?.rest == "! fakesink name=\"z b\"", "a value reaches beyond its place")
    precondition(read?.value == Array(place.meaning(value).utf8), "a value is not what was given")
  }

  private func fileName(_ text: String, _ identity: String) {
    let path = try? FileNameTemplate("/rec/{publisher_identity}.mp4").fill([.publisherIdentity: identity])
    let parts = path?.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) ?? []
    precondition(parts.count == 3 && parts[2].count <= 255 && parts[2].first != UInt8(ascii: "."), "out of its folder")
    _ = try? FileNameTemplate(text).fill([.publisherIdentity: identity, .roomName: identity])
  }
}
