public import MediaCore

/// How much may be sent again of what was lost. On a link that is full, requests for all that did not fit would push aside
/// what is new; then it is better to begin anew with a keyframe. Pure.
public struct RepeatAllowance: Sendable {
  private static let share = 0.1
  private static let burst = Duration.seconds(1)

  /// Bits; nil before the first request.
  private var room: (bits: Double, time: MediaTime)?

  /// Nothing was sent again yet.
  public init() {}

  /// Whether a packet may be sent again now; then it counts.
  /// - Parameter bytes: of the whole RTP packet.
  public mutating func takes(_ bytes: Int, within estimate: LinkEstimate, at time: MediaTime) -> Bool {
    guard estimate.limit != .none else { return true }
    let rate = Double(estimate.bitrate) * Self.share
    let most = rate * Self.burst.seconds
    let bits = min(most, room.map { $0.bits + rate * (time - $0.time).seconds } ?? most)
    let needed = Double((bytes + LinkEstimate.overhead) * 8)
    room = (bits >= needed ? bits - needed : bits, time)
    return bits >= needed
  }
}
