/// The elements of a filled template and their links, as the text has them: nothing is built for it.
public struct TemplateGraph: Equatable, Sendable {
  /// A box of the picture.
  public struct Node: Equatable, Sendable {
    /// What a node stands for.
    public enum Kind: Equatable, Sendable {
      /// An element.
      case element
      /// Caps between two links.
      case caps
      /// A name that is referred to and that no element has.
      case unknown
    }

    /// What it stands for.
    public var kind: Kind
    /// The kind of element, the caps, or the unknown name.
    public var title: String
    /// What the template calls it.
    public var name: String?
    /// `name=value` of the template without `name` itself, in its order.
    public var properties: [String]
    /// Whether Swift finds the element by its name.
    public var isContract: Bool
  }

  /// A link.
  public struct Edge: Equatable, Sendable {
    /// Index of the node that data comes from.
    public var from: Int
    /// Index of the node that it goes to.
    public var to: Int
    /// The pads that the template names, if any.
    public var label: String?
  }

  /// In the order of the text.
  public var nodes: [Node]
  /// In the order of the text.
  public var edges: [Edge]

  /// Reads the description of a filled template.
  public init(_ filled: FilledTemplate) {
    var reader = GraphReader(contract: filled.kind.contractNames)
    var scanner = TemplateScanner(text: filled.description, file: filled.file)
    // What was filled was scanned before: there is nothing left that could be wrong.
    for token in (try? scanner.scan()) ?? [] { reader.take(token) }
    (nodes, edges) = reader.finished()
  }
}

/// Follows the words of a description from element to element.
private struct GraphReader {
  let contract: Set<String>
  private var nodes: [TemplateGraph.Node] = []
  private var links: [(from: End, to: End)] = []
  private var current: End?
  private var isLinked = false

  init(contract: Set<String>) { self.contract = contract }

  /// One side of a link: an element, or the name of one that may come later.
  private enum End {
    case node(Int)
    case reference(String, pad: String?)
  }

  mutating func take(_ token: TemplateToken) {
    switch token.content {
    case .space, .declaration: break
    case .caps(let parts): link(to: .node(add(.caps, Self.text(parts).split(separator: " ").joined(separator: " "))))
    case .word(let parts): take(word: Self.text(parts))
    case .property(let name, _, let parts, _): take(property: name, Self.value(parts))
    }
  }

  private mutating func take(word: String) {
    if word == "!" || word == ":" {
      isLinked = current != nil
    } else if word.contains(".") {
      let parts = word.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      link(to: .reference(parts[0], pad: parts[1].isEmpty ? nil : parts[1]))
    } else if word.utf8.first.map(LaunchQuoting.isAlphanumeric) == true {
      link(to: .node(add(.element, word)))
    }
  }

  private mutating func take(property name: String, _ value: String) {
    guard let last = nodes.indices.last, nodes[last].kind == .element else { return }
    guard name == "name" else { return nodes[last].properties.append("\(name)=\(value)") }
    nodes[last].name = value
    nodes[last].isContract = contract.contains(value)
  }

  private mutating func add(_ kind: TemplateGraph.Node.Kind, _ title: String) -> Int {
    nodes.append(.init(kind: kind, title: title, name: nil, properties: [], isContract: false))
    return nodes.count - 1
  }

  private mutating func link(to end: End) {
    if isLinked, let current { links.append((current, end)) }
    (current, isLinked) = (end, false)
  }

  mutating func finished() -> ([TemplateGraph.Node], [TemplateGraph.Edge]) {
    let edges = links.map { link in
      let pads = [pad(link.from), pad(link.to)].compactMap { $0 }
      return TemplateGraph.Edge(
        from: node(link.from), to: node(link.to), label: pads.isEmpty ? nil : pads.joined(separator: " → "))
    }
    return (nodes, edges)
  }

  private func pad(_ end: End) -> String? { if case .reference(_, let pad) = end { pad } else { nil } }

  private mutating func node(_ end: End) -> Int {
    switch end {
    case .node(let index): return index
    case .reference(let name, _):
      return nodes.firstIndex { $0.name == name || ($0.kind == .unknown && $0.title == name) } ?? add(.unknown, name)
    }
  }

  private static func text(_ parts: [TemplatePart]) -> String {
    String(decoding: parts.flatMap { if case .literal(let bytes) = $0 { bytes } else { [UInt8]() } }, as: UTF8.self)
  }

  /// What a property's text means: without quotes and backslashes.
  private static func value(_ parts: [TemplatePart]) -> String {
    let bytes = Array(text(parts).utf8)
    let isQuoted = bytes.count > 1 && bytes.first == LaunchQuoting.quote && bytes.last == LaunchQuoting.quote
    return String(
      decoding: LaunchQuoting.meaning(of: isQuoted ? bytes[1..<(bytes.count - 1)] : bytes[...]), as: UTF8.self)
  }
}
