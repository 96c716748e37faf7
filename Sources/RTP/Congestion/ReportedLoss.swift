import MediaCore

/// What reception reports say of how much is lost, over all streams.
struct ReportedLoss: Sendable {
  private var streams: [SSRC: (highest: UInt32, lost: Int)] = [:]

  /// What is new in the blocks of one report.
  mutating func read(_ blocks: [ReportBlock]) -> (lost: Int, total: Int) {
    var news = (lost: 0, total: 0)
    for block in blocks {
      let before = streams.updateValue((block.highestSequence, block.cumulativeLost), forKey: block.ssrc)
      guard let before else { continue }
      let total = Int(block.highestSequence &- before.highest)
      // A receiver that begins anew says nothing of what went before.
      guard (0...100_000).contains(total) else { continue }
      news.total += total
      news.lost += min(max(block.cumulativeLost - before.lost, -total), total)
    }
    return news
  }
}
