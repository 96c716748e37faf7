import Egress
import PipelineTemplates
import Yams

/// Reads mappings of a file by tables of keys, and collects all mistakes.
struct RunReader {
  let file: String
  private(set) var mistakes: [YAMLMistake] = []

  /// What was given, for whoever compares.
  typealias Given = [String: [RunItem]]

  init(file: String) { self.file = file }

  mutating func note(_ mark: Mark?, _ message: String) { mistakes.append(YAMLMistake(file, mark, message)) }

  /// The pairs of a mapping whose keys are text.
  mutating func pairs(_ node: Node, of what: String) -> [(key: String, mark: Mark?, value: Node)] {
    guard let mapping = node.mapping else {
      note(node.mark, "\(what) takes `name: value`; this is \(Self.kind(node))")
      return []
    }
    var pairs: [(key: String, mark: Mark?, value: Node)] = []
    for (key, value) in mapping {
      if let name = key.scalar?.string {
        pairs.append((name, key.mark, value))
      } else {
        note(key.mark, "a name goes here; this is \(Self.kind(key))")
      }
    }
    return pairs
  }

  /// - Parameter hint: where it belongs, if that is known.
  mutating func refuse(_ name: String, _ mark: Mark?, besides known: [String], in place: String, hint: String? = nil) {
    let nearest = NearestName.of(name, in: known).map { "did you mean `\($0)`?" }
    let advice = [nearest, hint].compactMap { $0 }.joined(separator: " Or ")
    note(mark, "\(place) has no `\(name)`; \(advice.isEmpty ? "there is \(known.joined(separator: ", "))" : advice)")
  }

  /// Sets what a mapping says.
  /// - Parameter hint: where a key belongs that does not belong here, if that is known.
  mutating func read<Target>(
    _ node: Node, of place: String, by keys: [RunKey<Target>], into target: inout Target,
    hint: (String) -> String? = { _ in nil }
  ) -> RunPlaces {
    var places = RunPlaces()
    for (name, mark, value) in pairs(node, of: place) {
      guard let key = keys.first(where: { $0.name == name }) else {
        refuse(name, mark, besides: keys.map(\.name), in: place, hint: hint(name))
        continue
      }
      places.keys[name] = mark
      guard let items = items(value, name, key.form) else { continue }
      places.items[name] = items
      do { try key.set(&target, items.map(\.item)) } catch {
        let shown = if case .secret = key.form { "" } else { " '\(items.map(\.item.text).joined(separator: ", "))'" }
        note(items.first?.mark ?? mark, "`\(name)`\(shown): \(error)")
      }
    }
    return places
  }

  /// One value, as it is written; nil where it is not what goes there, which is noted.
  mutating func word(_ node: Node, _ name: String, _ form: RunForm) -> String? { scalar(node, name, form)?.item.text }

  typealias Placed = (item: RunItem, mark: Mark?)

  /// - Returns: nil where it is not what goes there, which is noted.
  private mutating func items(_ node: Node, _ name: String, _ form: RunForm) -> [Placed]? {
    switch form {
    case .some(let one): return list(node, name, form) { reader, node in reader.scalar(node, name, one) }
    case .destinations: return list(node, name, form) { reader, node in reader.destination(node) }
    case .values: return values(node, name).map { $0.map { (RunItem(text: "\($0.name)=\($0.value)"), $0.mark) } }
    default: return scalar(node, name, form).map { [$0] }
    }
  }

  private mutating func list(
    _ node: Node, _ name: String, _ form: RunForm, _ read: (inout RunReader, Node) -> Placed?
  ) -> [Placed]? {
    guard let sequence = node.sequence else { return read(&self, node).map { [$0] } }
    guard !sequence.isEmpty else {
      note(node.mark, "`\(name)` takes \(form.expectation); this list is empty")
      return nil
    }
    let items = sequence.compactMap { read(&self, $0) }
    return items.count == sequence.count ? items : nil
  }

  private mutating func scalar(_ node: Node, _ name: String, _ form: RunForm) -> Placed? {
    let isWord =
      switch form {
      case .flag: node.bool != nil
      case .count: node.int != nil
      default: true
      }
    guard let text = node.scalar?.string, node.null == nil, !text.isEmpty, isWord else {
      note(node.mark, "`\(name)` takes \(form.expectation); this is \(Self.kind(node))")
      return nil
    }
    switch form {
    case .secret, .command: break
    case .place where RunSecret.isIn(text): return address(text, name, node.mark)
    case _ where RunSecret.isIn(text):
      note(
        node.mark,
        "`\(name)`: the environment is for secrets only: api-key, api-secret, token and addresses; write the value here"
      )
      return nil
    default: break
    }
    if case .flag = form { return (RunItem(text: node.bool == true ? "true" : "false"), node.mark) }
    if case .choice(let words) = form, !words.contains(text) {
      let advice = NearestName.of(text, in: words).map { "did you mean `\($0)`?" }
      note(node.mark, "`\(name)` takes \(form.expectation), not '\(text)'\(advice.map { "; \($0)" } ?? "")")
      return nil
    }
    return (RunItem(text: text), node.mark)
  }

  /// With the secrets that an address may have.
  private mutating func address(_ text: String, _ name: String, _ mark: Mark?) -> Placed? {
    guard RawTarget(destination: text, command: nil).isWebSocket else {
      note(
        mark, "`\(name)`: the environment is for secrets only, such as the key of a ws:// address; write the name here")
      return nil
    }
    do throws(RunRefusal) { return (RunItem(text: try RunSecret.filled(text)), mark) } catch {
      note(mark, "`\(name)`: \(error)")
      return nil
    }
  }

  private mutating func values(_ node: Node, _ name: String) -> [(name: String, value: String, mark: Mark?)]? {
    guard node.mapping != nil else {
      note(node.mark, "`\(name)` takes \(RunForm.values.expectation); this is \(Self.kind(node))")
      return nil
    }
    var result: [(name: String, value: String, mark: Mark?)] = []
    for (variable, mark, value) in pairs(node, of: "`\(name)`") {
      guard let item = scalar(value, "\(name).\(variable)", .text(example: "1500")) else { return nil }
      result.append((variable, item.item.text, mark))
    }
    return result
  }

  // MARK: Destinations

  /// `LOCATION`, `NAME=LOCATION`, or a mapping.
  private mutating func destination(_ node: Node) -> Placed? {
    var draft = RunDestinationItem()
    if node.mapping == nil {
      guard let text = node.scalar?.string, node.null == nil, !text.isEmpty else {
        note(node.mark, "`destinations` takes \(RunForm.destinations.expectation); this is \(Self.kind(node))")
        return nil
      }
      draft.location = text
    } else {
      let count = mistakes.count
      for (key, mark, value) in pairs(node, of: "a destination") {
        switch key {
        case "location" where value.scalar != nil: draft.location = value.string
        case "output": draft.output = scalar(value, key, .text(example: "mp4"))?.item.text
        case "set":
          for (name, value, _) in values(value, key) ?? [] { draft.values[name] = value }
        case "location": note(value.mark, "`location` takes text such as talk.mp4; this is \(Self.kind(value))")
        default: refuse(key, mark, besides: RunDestinationItem.keys, in: "a destination")
        }
      }
      guard mistakes.count == count else { return nil }
    }
    do throws(RunRefusal) { return (try draft.item(), node.mark) } catch {
      note(node.mark, "`destinations`: \(error)")
      return nil
    }
  }

  private static func kind(_ node: Node) -> String {
    switch node {
    case .mapping: "a mapping"
    case .sequence: "a list"
    case .scalar(let scalar) where scalar.string.isEmpty || node.null != nil: "nothing"
    case .scalar(let scalar): RunSecret.isIn(scalar.string) ? "a secret" : "'\(scalar.string)'"
    case .alias: "an alias"
    }
  }
}
