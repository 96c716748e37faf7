import MediaCore

/// What reception reports say of how much is lost, over all streams.
struct ReportedLoss: Sendable {
  /// Reports are about what was sent so long before at most.
  private static let age = Duration.milliseconds(500)

  /// More than anybody sends: what names ever more would take all memory.
  private static let most = 1024

  private struct Report: Sendable {
    var highest: UInt32
    var lost: Int
    var time: MediaTime
  }

  private var streams: [SSRC: Report] = [:]

  /// What is new in the blocks of one report.
  /// - Parameter begin: of what was sent before it does not matter what got lost.
  mutating func read(_ blocks: [ReportBlock], since begin: MediaTime?, at time: MediaTime) -> (lost: Int, total: Int) {
    var news = (lost: 0, total: 0)
    for block in blocks {
      if streams.count > Self.most { streams = [:] }
      let report = Report(highest: block.highestSequence, lost: block.cumulativeLost, time: time)
      guard let before = streams.updateValue(report, forKey: block.ssrc) else { continue }
      guard begin.map({ before.time >= $0 + Self.age }) ?? true else { continue }
      let total = Int(block.highestSequence &- before.highest)
      // A receiver that begins anew says nothing of what went before.
      guard (0...100_000).contains(total) else { continue }
      news.total += total
      news.lost += min(max(block.cumulativeLost - before.lost, -total), total)
    }
    return news
  }
}
