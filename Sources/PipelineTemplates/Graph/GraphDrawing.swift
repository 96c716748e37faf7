/// A template's graph as an SVG picture.
public struct GraphDrawing {
  private let graph: TemplateGraph
  private let title: String
  private let summary: String
  private let boxes: [[Line]]
  private let layout: GraphLayout

  private static let character = 7.25
  private static let lineHeight = 16.0
  private static let padding = 10.0
  private static let margin = 24.0
  private static let head = 92.0
  /// Caps are long: a box is no wider than so many characters.
  private static let columns = 54

  private enum Style: String { case title, name, found, plain, caps }

  private struct Line {
    var text: String
    var style: Style
  }

  /// - Parameter filled: with the values that are to be seen in it.
  public init(_ filled: FilledTemplate, summary: String) {
    graph = TemplateGraph(filled)
    title = "\(filled.kind.rawValue)/\(filled.name)"
    self.summary = summary
    boxes = graph.nodes.map(Self.lines)
    let sizes = boxes.map { lines in
      let columns = lines.map { Double($0.text.count) * ($0.style == .title ? 1.1 : 1) }.max() ?? 0
      return GraphLayout.Size(
        width: max(90, columns * Self.character + 2 * Self.padding),
        height: Double(lines.count) * Self.lineHeight + 1.5 * Self.padding)
    }
    layout = GraphLayout(sizes: sizes, edges: graph.edges.map { ($0.from, $0.to) })
  }

  private static func lines(of node: TemplateGraph.Node) -> [Line] {
    switch node.kind {
    case .caps: return wrapped(node.title, hanging: 0).map { Line(text: $0, style: .caps) }
    case .unknown:
      return [Line(text: "\(node.title)?", style: .title), Line(text: "no element is called so", style: .plain)]
    case .element:
      return [Line(text: node.title, style: .title)]
        + (node.name.map { [Line(text: $0, style: node.isContract ? .found : .name)] } ?? [])
        + node.properties.flatMap { wrapped($0, hanging: 2).map { Line(text: $0, style: .plain) } }
    }
  }

  /// Breaks behind a comma or a semicolon, or where nothing else helps.
  private static func wrapped(_ text: String, hanging: Int) -> [String] {
    var lines: [String] = []
    var rest = text.split(separator: " ").joined(separator: " ")[...]
    while rest.count > columns - (lines.isEmpty ? 0 : hanging) {
      let room = rest.prefix(columns - (lines.isEmpty ? 0 : hanging))
      let end = room.lastIndex { ",; ".contains($0) }.map { room.index(after: $0) } ?? room.endIndex
      lines.append((lines.isEmpty ? "" : String(repeating: "\u{a0}", count: hanging)) + rest[..<end])
      rest = rest[end...]
    }
    if !rest.isEmpty { lines.append((lines.isEmpty ? "" : String(repeating: "\u{a0}", count: hanging)) + rest) }
    return lines
  }

  /// The whole file; what the template says is text in it and nothing else.
  public var svg: String {
    let text = max(Double(summary.count) * Self.character, 440)
    let width = Int(max(layout.size.width, text) + 2 * Self.margin)
    let height = Int(layout.size.height + Self.head + Self.margin)
    let shift = (Double(width) - layout.size.width) / 2
    var lines = [
      #"<svg xmlns="http://www.w3.org/2000/svg" width="\#(width)" height="\#(height)" viewBox="0 0 \#(width) \#(height)">"#,
      "<title>\(Self.escaped(title))</title>", Self.style,
      #"<rect width="\#(width)" height="\#(height)" fill="white"/>"#,
      #"<text class="head" x="\#(Self.margin)" y="30">\#(Self.escaped(title))</text>"#,
      #"<text class="plain" x="\#(Self.margin)" y="48">\#(Self.escaped(summary))</text>"#,
    ]
    lines += legend
    lines.append(#"<g transform="translate(\#(Self.number(shift)),\#(Self.head))">"#)
    lines += zip(graph.edges, layout.routes).flatMap(Self.arrow)
    for (index, node) in graph.nodes.enumerated() { lines += box(node, index) }
    return (lines + ["</g>", "</svg>"]).joined(separator: "\n") + "\n"
  }

  private var legend: [String] {
    let contract = graph.nodes.contains(where: \.isContract)
    guard contract else { return [] }
    return [
      #"<rect class="contract" x="\#(Self.margin)" y="56" width="12" height="12" rx="3"/>"#,
      #"<text class="plain" x="\#(Self.margin + 20)" y="66">found by mediabridge by this name</text>"#,
    ]
  }

  private static let style = """
    <defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">\
    <path d="M0,0 L8,4 L0,8 z" fill="#5b6673"/></marker></defs>
    <style>
    text { font: 12px "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #27313b; }
    .head { font-size: 17px; font-weight: bold; }
    .title { font-size: 13px; font-weight: bold; }
    .name { font-weight: bold; }
    .found { fill: #0b5cad; font-weight: bold; }
    .caps, .pad { fill: #5b6673; }
    .pad { font-size: 11px; paint-order: stroke; stroke: #ffffff; stroke-width: 4px; }
    rect.element { fill: #f4f6f8; stroke: #8c98a4; }
    rect.contract { fill: #ddecfb; stroke: #0b5cad; stroke-width: 2; }
    rect.caps { fill: #ffffff; stroke: #b8c1ca; stroke-dasharray: 4 3; }
    rect.unknown { fill: #fde8e6; stroke: #c0392b; }
    path.link { fill: none; stroke: #5b6673; stroke-width: 1.4; marker-end: url(#arrow); }
    </style>
    """

  private func box(_ node: TemplateGraph.Node, _ index: Int) -> [String] {
    let place = layout.boxes[index]
    let kind = node.isContract ? "contract" : "\(node.kind)"
    var lines = [
      #"<rect class="\#(kind)" x="\#(Self.number(place.x))" y="\#(Self.number(place.y))" "#
        + #"width="\#(Self.number(place.size.width))" height="\#(Self.number(place.size.height))" rx="6"/>"#
    ]
    for (row, line) in boxes[index].enumerated() {
      let y = place.y + Self.padding * 0.75 + Double(row + 1) * Self.lineHeight - 4
      lines.append(
        #"<text class="\#(line.style)" x="\#(Self.number(place.x + Self.padding))" y="\#(Self.number(y))">"#
          + Self.escaped(line.text) + "</text>")
    }
    return lines
  }

  private static func arrow(_ edge: TemplateGraph.Edge, _ route: [(x: Double, y: Double)]) -> [String] {
    guard let first = route.first else { return [] }
    var path = "M\(number(first.x)),\(number(first.y))"
    for (from, to) in zip(route, route.dropFirst()) {
      let half = (from.y + to.y) / 2
      path +=
        from.x == to.x
        ? " L\(number(to.x)),\(number(to.y))"
        : " C\(number(from.x)),\(number(half)) \(number(to.x)),\(number(half)) \(number(to.x)),\(number(to.y))"
    }
    var lines = [#"<path class="link" d="\#(path)"/>"#]
    if let label = edge.label {
      // On the side from which the line turns away.
      let isLeft = (route.dropFirst().first?.x ?? first.x) > first.x
      let place = #"x="\#(number(first.x + (isLeft ? -7 : 7)))" y="\#(number(first.y + 15))""#
      lines.append(
        #"<text class="pad" \#(place)\#(isLeft ? #" text-anchor="end""# : "")>\#(escaped(label))</text>"#)
    }
    return lines
  }

  private static func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

  /// XML has no other characters that are syntax, and no control characters at all.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n", "\t", "\r": result += " "
      case _ where scalar.value < 0x20 || scalar.value == 0xfffe || scalar.value == 0xffff: result += "\u{fffd}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
