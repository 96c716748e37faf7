/// Where the boxes of a graph stand: in rows by their distance from a source, from top to bottom.
struct GraphLayout {
  struct Size: Equatable {
    var width: Double
    var height: Double
  }

  struct Box: Equatable {
    var x: Double
    var y: Double
    var size: Size
    var centre: Double { x + size.width / 2 }
    var bottom: Double { y + size.height }
  }

  /// By node.
  let boxes: [Box]
  /// By edge: the points that the line goes through, the ends among them.
  let routes: [[(x: Double, y: Double)]]
  let size: Size

  private static let columnGap = 28.0
  private static let rowGap = 40.0

  /// - Parameters:
  ///   - sizes: by node.
  ///   - edges: from node to node; a text that links in a circle is drawn, too.
  init(sizes: [Size], edges: [(from: Int, to: Int)]) {
    let rows = Self.rows(count: sizes.count, edges)
    var net = GraphNet(sizes: sizes, rows: rows)
    for edge in edges { net.connect(edge.from, edge.to) }
    let centres = net.centres(gap: Self.columnGap)
    let tops = Self.tops(of: sizes, rows)
    boxes = sizes.indices.map { node in
      Box(x: centres[node] - sizes[node].width / 2, y: tops[rows[node]].top, size: sizes[node])
    }
    let boxes = boxes
    let ports = GraphPorts(net: net, centres: centres)
    routes = net.routes.enumerated().map { edge, route in
      route.enumerated().flatMap { index, node -> [(x: Double, y: Double)] in
        if index == 0 { return [(ports.x(of: edge, isStart: true), boxes[node].bottom)] }
        if index == route.count - 1 { return [(ports.x(of: edge, isStart: false), boxes[node].y)] }
        let row = tops[net.rows[node]]
        return [(centres[node], row.top), (centres[node], row.top + row.height)]
      }
    }
    size = Size(
      width: zip(centres, net.widths).map { $0 + $1 / 2 }.max() ?? 0,
      height: tops.last.map { $0.top + $0.height } ?? 0)
  }

  /// As far down as the longest way to a node is, and then as close above what follows as it can be.
  private static func rows(count: Int, _ edges: [(from: Int, to: Int)]) -> [Int] {
    var rows = [Int](repeating: 0, count: count)
    // Each round carries on one link; a circle ends with the number of rounds.
    for _ in 0..<count {
      var isSettled = true
      for edge in edges where edge.from != edge.to && rows[edge.to] <= rows[edge.from] && rows[edge.from] < count {
        rows[edge.to] = rows[edge.from] + 1
        isSettled = false
      }
      if isSettled { break }
    }
    for node in rows.indices.sorted(by: { rows[$0] > rows[$1] }) {
      let below = edges.filter { $0.from == node && rows[$0.to] > rows[node] }.map { rows[$0.to] }.min()
      if let below { rows[node] = below - 1 }
    }
    let used = Set(rows).sorted()
    return rows.map { row in used.firstIndex(of: row) ?? 0 }
  }

  private static func tops(of sizes: [Size], _ rows: [Int]) -> [(top: Double, height: Double)] {
    var tops: [(top: Double, height: Double)] = []
    for row in 0..<((rows.max() ?? -1) + 1) {
      let height = sizes.indices.filter { rows[$0] == row }.map { sizes[$0].height }.max() ?? 0
      tops.append((tops.last.map { $0.top + $0.height + rowGap } ?? 0, height))
    }
    return tops
  }
}
