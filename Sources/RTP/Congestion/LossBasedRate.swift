import MediaCore

/// The bitrate that loss allows (draft-ietf-rmcat-gcc-02, 6): below 2 % it goes up, above 10 % down, and in between, where
/// the way may be lossy whatever is sent, it stays.
struct LossBasedRate: Sendable {
  private static let (harmless, harmful) = (0.02, 0.1)
  /// So much is lost only where far more is sent than passes.
  private static let drastic = 0.3
  /// A share of fewer packets says little.
  private static let packets = 20
  private static let (interval, longestInterval) = (Duration.milliseconds(500), Duration.seconds(3))
  private static let increase = 0.08

  /// Nil while nothing has been too much.
  private(set) var bitrate: Double?
  private var lost = 0
  private var total = 0
  /// Of what is counted now. After a decrease it lies ahead: what is told before that is about the time before.
  private var begin: MediaTime?
  /// Smoothed, since chance alone makes a tenth of a few packets.
  private(set) var share = 0.0

  /// - Parameters:
  ///   - lost: of `total` packets that were not reported before.
  ///   - sent: bits a second.
  ///   - ceiling: more is not to be believed.
  /// - Returns: whether it was lowered.
  mutating func add(lost: Int, of total: Int, sent: Double, ceiling: Double, at time: MediaTime) -> Bool {
    guard total > 0 || lost != 0 else { return false }
    let begin = begin ?? time - Self.interval / 2
    self.begin = begin
    guard time >= begin else { return false }
    self.lost += lost
    self.total += total
    let elapsed = time - begin
    guard elapsed >= Self.interval, self.total >= Self.packets || elapsed >= Self.longestInterval else { return false }
    let newest = min(max(Double(self.lost) / Double(max(self.total, 1)), 0), 1)
    (self.lost, self.total, self.begin) = (0, 0, time)
    share = newest > Self.drastic ? newest : (share + newest) / 2
    let isLowered = judge(sent, ceiling, min(elapsed.seconds, 1))
    if isLowered { (share, self.begin) = (share / 2, time + Self.interval) }
    return isLowered
  }

  private mutating func judge(_ sent: Double, _ ceiling: Double, _ elapsed: Double) -> Bool {
    if share > Self.harmful {
      // What goes above what is sent was never tried.
      let from = min(bitrate ?? sent, sent)
      let lowered = share > Self.drastic ? from * (1 - share) : from * (1 - share / 2)
      bitrate = lowered
      return true
    }
    if share < Self.harmless, let known = bitrate, known < ceiling {
      // What is sent whatever is allowed, such as audio, comes.
      bitrate = min(ceiling, max(known * (1 + Self.increase * elapsed), sent))
    }
    return false
  }

  /// So much has passed.
  mutating func raise(to passed: Double) { bitrate = bitrate.map { max($0, passed) } }

  /// Nobody says anything of what is sent.
  mutating func lower(by factor: Double, from sent: Double, to least: Double) {
    bitrate = max(min(bitrate ?? sent, sent) * factor, least)
  }
}
