/// Which frames are left out where a machine is too slow for all of them: evenly many, and the more the further it is behind,
/// so that what waits grows no older than a bound. Pure.
package struct FrameThinning: Sendable {
  /// How far behind nothing is left out yet: an encoder that begins, or a machine that is busy for a moment, makes up for it.
  package static let least = Duration.milliseconds(700)
  /// How far behind most are left out.
  package static let most = Duration.milliseconds(1400)
  private static let mostShare = 0.9

  private var debt = 0.0
  private var rest = 0

  package init() {}

  /// - Parameter delay: how far behind it is with a frame that is taken.
  /// - Returns: how many of those that follow are to be left out.
  package mutating func skip(behind delay: Duration) -> Int {
    let share = min((delay - Self.least) / (Self.most - Self.least), Self.mostShare)
    guard share > 0 else {
      debt = 0
      return 0
    }
    debt += share / (1 - share)
    let count = Int(debt)
    debt -= Double(count)
    return count
  }

  /// For who is asked of each frame.
  package mutating func takes(behind delay: Duration) -> Bool {
    guard rest == 0 else {
      rest -= 1
      return false
    }
    rest = skip(behind: delay)
    return true
  }
}
