import MediaBridge
import MediaCore

/// Since when nothing comes because the room's connection was lost. Where only the signalling is away, media goes on,
/// and in a new session it takes a while to come back. Pure.
struct ConnectionWatch: Sendable {
  /// For how long a new session waits for what was there before.
  static let returnTime = Duration.seconds(10)
  /// By then a loss has been noticed: the answers to pings and ICE's checks (RFC 7675) are waited for that long.
  static let noticeTime = Duration.seconds(30)
  /// For how long nothing comes before the connection may be why.
  static let quietTime = Duration.seconds(3)
  /// How often to look as long as nothing is lost; whoever shows progress does so each second.
  static let pace = Duration.milliseconds(1500)

  /// Nil while something comes, or nothing is to.
  private(set) var since: MediaTime?
  /// Since when the connection stands again.
  private var back: MediaTime?
  private var packets = 0
  /// When something was last seen to have come, or nothing was to.
  private var flowed: MediaTime?
  private var looked: MediaTime?

  /// Whether to look, with `note`: several times a second from a loss on, until `since` is nil.
  func isDue(_ state: ConnectionState, at now: MediaTime) -> Bool {
    since != nil || state == .reconnecting || looked.map { now - $0 >= Self.pace } ?? true
  }

  /// - Parameters:
  ///   - isAwaited: whether something is to come, as far as is known.
  ///   - packets: all that have come.
  mutating func note(_ state: ConnectionState, isAwaited: Bool, packets: Int, at now: MediaTime) {
    let flows = packets != self.packets
    (self.packets, looked) = (packets, now)
    if flows || since == nil && !isAwaited { flowed = now }
    switch state {
    // It was lost before anybody noticed.
    case .reconnecting: (since, back) = (flows ? now : since ?? max(flowed ?? now, now - Self.noticeTime), nil)
    case .connected where since != nil:
      let start = back ?? now
      back = start
      if flows || !isAwaited || now - start >= Self.returnTime { (since, back) = (nil, nil) }
    // What has not come by then does not come any more.
    case .connected, .disconnected, .connecting, .disconnecting: break
    }
  }

  /// Whether what is to come does not, over a connection of which no loss was noticed.
  func isQuiet(at now: MediaTime) -> Bool { since == nil && flowed.map { now - $0 >= Self.quietTime } == true }

  /// The server has answered: nothing was lost before now.
  mutating func hear(at now: MediaTime) { flowed = now }

  /// The server has not answered.
  mutating func lose() { since = since ?? flowed }
}
