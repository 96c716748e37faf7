import MediaCore
import RTP

/// How much of a stream was lost for good over the last seconds. No clock of its own: times come in.
struct LossWindow: Sendable {
  /// What came and what did not, since the stream began.
  struct Count: Sendable {
    /// However it came.
    var delivered: Int
    /// Of that, what came as a repair.
    var repaired = 0
    /// Neither as it was sent nor repaired. What is still under way as a repair is among it.
    var lost: Int
  }

  /// Short, so that what is over is over; long enough that repairs which are under way weigh little.
  static let length = Duration.seconds(2)
  /// Of fewer packets nothing can be said.
  static let fewest = 20

  private var samples: [(time: MediaTime, count: Count)] = []
  private let fewest: Int

  /// - Parameter fewest: of fewer nothing is said.
  init(fewest: Int = LossWindow.fewest) { self.fewest = fewest }

  mutating func add(_ count: Count, at time: MediaTime) {
    // Who has had less than before counts anew.
    if let last = samples.last, count.delivered < last.count.delivered { samples = [] }
    samples.append((time, count))
    // The first one stays that is old enough to be compared with.
    while samples.count > 1, time - samples[1].time >= Self.length { samples.removeFirst() }
  }

  /// Forgets what came before, which is of something else than what is asked for now.
  mutating func restart() { samples = [] }

  /// The share that was lost for good; nil before the window is full and when too little was sent.
  var loss: Double? { share { $0.lost } }
  /// The share that was lost on its way, repaired or not; nil like `loss`.
  var lossBeforeRepair: Double? { share { $0.lost + $0.repaired } }

  private func share(_ missed: (Count) -> Int) -> Double? {
    guard let first = samples.first, let last = samples.last, last.time - first.time >= Self.length else { return nil }
    let sent = last.count.lost + last.count.delivered - first.count.lost - first.count.delivered
    return sent >= fewest ? Double(max(0, missed(last.count) - missed(first.count))) / Double(sent) : nil
  }
}

extension LossWindow.Count {
  init(_ statistics: RTPReceiver.Statistics) {
    delivered = statistics.packetsReceived + statistics.paddingPackets
    repaired = statistics.packetsRecovered
    lost = statistics.packetsLost - statistics.packetsRecovered
  }
}
