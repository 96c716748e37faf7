import Foundation
import Testing

@testable import PipelineTemplates

@Suite struct GraphTests {
  private func filled(_ kind: TemplateKind, _ text: String) throws -> FilledTemplate {
    try Template(kind: kind, name: "t", file: "t", text: text).fill()
  }

  @Test func linksAreReadWithTheirPadsAndCaps() throws {
    let graph = TemplateGraph(
      try filled(
        .output,
        """
        mp4mux name=mux ! filesink location="a b"
        appsrc name=video ! video/x-h264, width=4 ! mux.video_0
        """))
    #expect(graph.nodes.map(\.title) == ["mp4mux", "filesink", "appsrc", "video/x-h264, width=4"])
    #expect(graph.nodes.map(\.isContract) == [false, false, true, false])
    #expect(graph.nodes[1].properties == ["location=a b"])
    #expect(graph.edges.map { [$0.from, $0.to] } == [[0, 1], [2, 3], [3, 0]])
    #expect(graph.edges.last?.label == "video_0")
  }

  @Test func aTeeHasABranchForEachReference() throws {
    let text = "appsrc name=rtp ! tee name=m  m. ! appsink name=encoded  m. ! vp8dec ! appsink name=frames"
    let graph = TemplateGraph(try filled(.receive, text))
    #expect(graph.edges.map { [$0.from, $0.to] } == [[0, 1], [1, 2], [1, 3], [3, 4]])
  }

  @Test func noBoxLiesOverAnotherAndEveryLineGoesDown() throws {
    for name in BuiltInTemplates.texts.keys.sorted() {
      let parts = name.split(separator: "/").map(String.init)
      let kind = try #require(TemplateKind(rawValue: parts[0]))
      let template = try Template(kind: kind, name: parts[1], file: name, text: BuiltInTemplates.texts[name] ?? "")
      let required = template.variables.filter { $0.defaultValue == nil }.map { ($0.name, "X") }
      let graph = TemplateGraph(try template.fill(Dictionary(uniqueKeysWithValues: required)))
      #expect(!graph.nodes.contains { $0.kind == .unknown }, "\(name)")
      let sizes = graph.nodes.map { GraphLayout.Size(width: Double(40 + 7 * $0.title.count), height: 40) }
      let layout = GraphLayout(sizes: sizes, edges: graph.edges.map { ($0.from, $0.to) })
      for (index, box) in layout.boxes.enumerated() {
        #expect(box.x >= -0.01 && box.x + box.size.width <= layout.size.width + 0.01, "\(name)")
        for other in layout.boxes.dropFirst(index + 1) where other.y == box.y {
          #expect(box.x + box.size.width <= other.x || other.x + other.size.width <= box.x, "\(name)")
        }
      }
      for route in layout.routes { #expect(zip(route, route.dropFirst()).allSatisfy { $0.y < $1.y }, "\(name)") }
    }
  }

  /// A link that passes rows goes around what stands in them, and a circle is no endless work.
  @Test func longLinksAndCirclesAreDrawn() {
    let sizes = [GraphLayout.Size](repeating: .init(width: 100, height: 40), count: 4)
    let long = GraphLayout(sizes: sizes, edges: [(0, 1), (1, 2), (2, 3), (0, 3)])
    #expect(Set(long.boxes.map(\.y)).count == 4)
    let passes = long.routes[3].dropFirst().dropLast()
    #expect(passes.count == 4 && passes.allSatisfy { $0.x < long.boxes[1].x || $0.x > long.boxes[1].x + 100 })
    #expect(GraphLayout(sizes: sizes, edges: [(0, 1), (1, 2), (2, 0), (3, 3)]).boxes.count == 4)
    #expect(GraphLayout(sizes: [], edges: []).boxes.isEmpty)
  }

  @Test func whatATextSaysIsNoSyntaxOfThePicture() throws {
    let text = "appsrc name=video ! filesink location=\"<script>&'\\\"]]>\" ! nosuch."
    let svg = GraphDrawing(try filled(.output, text), summary: "a < b & c").svg
    #expect(svg.contains("location=&lt;script&gt;&amp;'&quot;]]&gt;") && !svg.contains("<script>"))
    #expect(svg.contains("a &lt; b &amp; c") && svg.contains("no element is called so"))
    let parser = XMLDocumentCheck(svg)
    #expect(parser.isWellFormed)
  }
}

/// Without a reader of XML of our own: every tag that opens closes, and no bare `&` or `<` is left.
private struct XMLDocumentCheck {
  let isWellFormed: Bool

  init(_ text: String) {
    var open: [Substring] = []
    var isGood = true
    var rest = text[...]
    while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
      let tag = rest[rest.index(after: start)..<end]
      rest = rest[rest.index(after: end)...]
      if tag.hasPrefix("/") {
        isGood = isGood && open.popLast() == tag.dropFirst()
      } else if !tag.hasSuffix("/") {
        open.append(tag.prefix { $0 != " " })
      }
    }
    isWellFormed = isGood && open.isEmpty
  }
}
