import MediaCore

/// One direction of a network on virtual time: what goes in comes out later, or not, or twice, or in another order.
struct SimulatedLink<Item> {
  var delay = 20.0
  /// Milliseconds added at random, which is what reorders.
  var jitter = 0.0
  var loss = 0.0
  var duplication = 0.0
  private var random: SeededRandom
  private var queue: [(time: Double, item: Item)] = []
  private(set) var lost = 0

  init(seed: UInt64, delay: Double = 20, jitter: Double = 0, loss: Double = 0, duplication: Double = 0) {
    random = SeededRandom(seed: seed)
    (self.delay, self.jitter, self.loss, self.duplication) = (delay, jitter, loss, duplication)
  }

  /// - Parameter copy: what arrives has memory of its own, as on a real network.
  mutating func send(_ item: Item, at time: Double, copy: (Item) -> Item) {
    for _ in 0..<(random.chance(duplication) ? 2 : 1) {
      guard !random.chance(loss) else {
        lost += 1
        continue
      }
      let arrival = time + delay + Double.random(in: 0...1, using: &random) * jitter
      queue.append((arrival, copy(item)))
    }
  }

  /// What has arrived by `time`, in the order of arrival.
  mutating func receive(at time: Double) -> [Item] {
    guard queue.contains(where: { $0.time <= time }) else { return [] }
    let due = queue.filter { $0.time <= time }.sorted { $0.time < $1.time }
    queue.removeAll { $0.time <= time }
    return due.map(\.item)
  }
}
