/// The nodes of a graph in their rows, with one more in each row that a long link passes, so that no line goes through a
/// box.
struct GraphNet {
  private(set) var widths: [Double]
  private(set) var rows: [Int]
  /// By edge: the nodes that it goes through.
  private(set) var routes: [[Int]] = []

  private static let passage = 16.0
  private static let rounds = 60

  init(sizes: [GraphLayout.Size], rows: [Int]) {
    widths = sizes.map(\.width)
    self.rows = rows
  }

  mutating func connect(_ from: Int, _ to: Int) {
    var route = [from]
    for row in (rows[from] + 1)..<max(rows[to], rows[from] + 1) {
      widths.append(Self.passage)
      rows.append(row)
      route.append(widths.count - 1)
    }
    routes.append(route + [to])
  }

  /// The middle of each node: near those that it is linked to, and never over another one of its row.
  func centres(gap: Double) -> [Double] {
    var order = (0..<((rows.max() ?? -1) + 1)).map { row in rows.indices.filter { rows[$0] == row } }
    var centres = [Double](repeating: 0, count: rows.count)
    for row in order { spread(row, &centres, gap) }
    for round in 0..<Self.rounds {
      // From above to below and back again; the order is found in the first half, the places in the second.
      let indices = round.isMultiple(of: 2) ? Array(order.indices) : order.indices.reversed()
      for index in indices {
        let wanted = order[index].map { wish($0, centres) }
        if round < Self.rounds / 2 {
          let sorted = zip(order[index], wanted).enumerated().sorted {
            ($0.element.1, $0.offset) < ($1.element.1, $1.offset)
          }
          order[index] = sorted.map(\.element.0)
        }
        for node in order[index] { centres[node] = wish(node, centres) }
        spread(order[index], &centres, gap)
      }
    }
    let left = zip(centres, widths).map { $0 - $1 / 2 }.min() ?? 0
    return centres.map { $0 - left }
  }

  private func wish(_ node: Int, _ centres: [Double]) -> Double {
    var sum = 0.0
    var count = 0
    for route in routes {
      for (one, other) in zip(route, route.dropFirst()) where one == node || other == node {
        sum += centres[one == node ? other : one]
        count += 1
      }
    }
    return count == 0 ? centres[node] : sum / Double(count)
  }

  /// Moves those apart that overlap, around the middle of where they want to be.
  private func spread(_ row: [Int], _ centres: inout [Double], _ gap: Double) {
    guard let first = row.first else { return }
    let middle = row.map { centres[$0] }.reduce(0, +) / Double(row.count)
    var last = first
    for node in row.dropFirst() {
      centres[node] = max(centres[node], centres[last] + (widths[last] + widths[node]) / 2 + gap)
      last = node
    }
    let moved = row.map { centres[$0] }.reduce(0, +) / Double(row.count) - middle
    for node in row { centres[node] -= moved }
  }
}

/// Where lines leave and enter boxes: those of one box beside each other, in the order of what they lead to.
struct GraphPorts {
  private var starts: [Double]
  private var ends: [Double]

  private static let gap = 44.0

  init(net: GraphNet, centres: [Double]) {
    starts = net.routes.map { centres[$0[0]] }
    ends = net.routes.map { centres[$0[$0.count - 1]] }
    for node in centres.indices {
      let leaving = net.routes.indices.filter { net.routes[$0][0] == node }
      let entering = net.routes.indices.filter { net.routes[$0].last == node }
      let width = net.widths[node]
      let left = leaving.sorted { (centres[net.routes[$0][1]], $0) < (centres[net.routes[$1][1]], $1) }
      let right = entering.sorted {
        let (one, other) = (net.routes[$0], net.routes[$1])
        return (centres[one[one.count - 2]], $0) < (centres[other[other.count - 2]], $1)
      }
      for (index, edge) in left.enumerated() { starts[edge] += Self.offset(index, of: left.count, width) }
      for (index, edge) in right.enumerated() { ends[edge] += Self.offset(index, of: right.count, width) }
    }
  }

  private static func offset(_ index: Int, of count: Int, _ width: Double) -> Double {
    (Double(index) - Double(count - 1) / 2) * min(gap, width / Double(count + 1))
  }

  func x(of edge: Int, isStart: Bool) -> Double { isStart ? starts[edge] : ends[edge] }
}
