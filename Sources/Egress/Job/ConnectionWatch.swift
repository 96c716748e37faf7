import MediaBridge
import MediaCore

/// Since when nothing comes because the room's connection was lost. Where only the signalling is away, media goes on,
/// and in a new session it takes a while to come back. Pure.
struct ConnectionWatch: Sendable {
  /// For how long a new session waits for what was there before.
  static let returnTime = Duration.seconds(10)

  /// Nil while something comes, or nothing is to.
  private(set) var since: MediaTime?
  /// Since when the connection stands again.
  private var back: MediaTime?
  private var packets = 0

  /// To be called several times a second from the loss on, until `since` is nil.
  /// - Parameters:
  ///   - isAwaited: whether something is to come, as far as is known.
  ///   - packets: all that have come.
  mutating func note(_ state: ConnectionState, isAwaited: Bool, packets: Int, at now: MediaTime) {
    let flows = packets != self.packets
    self.packets = packets
    switch state {
    case .reconnecting: (since, back) = (flows ? now : since ?? now, nil)
    case .connected:
      let start = back ?? now
      back = start
      if flows || !isAwaited || now - start >= Self.returnTime { (since, back) = (nil, nil) }
    // What has not come by then does not come any more.
    case .disconnected, .connecting, .disconnecting: break
    }
  }
}
