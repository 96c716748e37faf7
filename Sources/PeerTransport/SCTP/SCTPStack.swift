import CUsrsctp
import Glibc
import MediaCore

/// usrsctp is one stack a process. Its call-backs come within calls into it, `tick` among them, with an address that we
/// chose: a number that leads to the association through a table, so that a late call-back for a transport that is gone
/// finds nothing instead of freed memory.
///
/// The stack runs without threads of its own, whose timer would wake the process a hundred times a second: the loops of
/// the associations keep its time.
enum SCTPStack {
  struct Hooks: Sendable {
    /// A packet for the peer.
    var send: @Sendable ([UInt8]) -> Void
    /// A message or notification from the peer: bytes, payload protocol id, stream, is it a notification.
    var receive: @Sendable ([UInt8], UInt32, UInt16, Bool) -> Void
  }

  private struct Table {
    var next: UInt = 1
    var hooks: [UInt: Hooks] = [:]
  }

  private static let table = Locked(Table())
  /// The moment up to which the stack's timers have run. The lock is held for every call into the stack, which takes
  /// its own locks in different orders for packets, timers and sockets; its call-backs only hand on.
  private static let time = Locked(MediaTime.now)

  /// How often an association's loop calls `tick`. The shortest timer, of a delayed acknowledgement, is 200 ms.
  static let tickInterval = Duration.milliseconds(100)
  /// The same once nothing has passed for `quietAfter`: what runs then are heartbeats, and repetitions of seconds.
  static let quietInterval = Duration.milliseconds(500)
  static let quietAfter = Duration.seconds(2)

  /// The only way in. The timers run first: one that `body` starts counts from now, not from the last tick.
  static func enter<Result>(_ body: () -> Result) -> Result {
    time.withLock { last in
      runTimers(since: &last)
      return body()
    }
  }

  private static let isStarted: Bool = {
    usrsctp_init_nothreads(
      0,
      { address, bytes, count, _, _ in
        guard let address, let bytes else { return 0 }
        SCTPStack.hooks(UInt(bitPattern: address))?.send(Array(UnsafeRawBufferPointer(start: bytes, count: count)))
        return 0
      }, nil)
    usrsctp_sysctl_set_sctp_ecn_enable(0)
    usrsctp_sysctl_set_sctp_nr_outgoing_streams_default(1024)
    // The handshake starts after RFC 4960's 3 s if its first packet is lost: too long for a call.
    usrsctp_sysctl_set_sctp_init_rto_max_default(1000)
    return true
  }()

  static func register(_ hooks: Hooks) -> UInt {
    _ = isStarted
    let (id, isAlone) = table.withLock { table in
      defer { table.next += 1 }
      table.hooks[table.next] = hooks
      return (table.next, table.hooks.count == 1)
    }
    time.withLock { last in
      // Time stands still without associations; a jump would let the new one's timers run out at once.
      if isAlone { last = .now }
      usrsctp_register_address(UnsafeMutableRawPointer(bitPattern: id))
    }
    return id
  }

  static func unregister(_ id: UInt) {
    enter { usrsctp_deregister_address(UnsafeMutableRawPointer(bitPattern: id)) }
    table.withLock { _ = $0.hooks.removeValue(forKey: id) }
  }

  /// Runs the timers that are due, of all associations.
  static func tick() { enter {} }

  private static func runTimers(since last: inout MediaTime) {
    let milliseconds = (MediaTime.now - last).nanoseconds / 1_000_000
    guard milliseconds > 0 else { return }
    last = last + .milliseconds(milliseconds)
    usrsctp_handle_timers(UInt32(clamping: milliseconds))
  }

  static func hooks(_ id: UInt) -> Hooks? { table.withLock { $0.hooks[id] } }
}
