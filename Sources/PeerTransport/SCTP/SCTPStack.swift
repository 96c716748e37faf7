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

  private struct Time {
    /// The moment up to which the stack's timers have run.
    var last = MediaTime.now
    var isTicking = false
  }

  private static let table = Locked(Table())
  private static let time = Locked(Time())

  /// How often an association's loop calls `tick`. The shortest timer, of a delayed acknowledgement, is 200 ms.
  static let tickInterval = Duration.milliseconds(100)

  private static let isStarted: Bool = {
    time.withLock { $0.last = .now }
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
    usrsctp_sysctl_set_sctp_rto_initial_default(500)
    return true
  }()

  static func register(_ hooks: Hooks) -> UInt {
    _ = isStarted
    let id = table.withLock { table in
      defer { table.next += 1 }
      table.hooks[table.next] = hooks
      return table.next
    }
    usrsctp_register_address(UnsafeMutableRawPointer(bitPattern: id))
    return id
  }

  static func unregister(_ id: UInt) {
    usrsctp_deregister_address(UnsafeMutableRawPointer(bitPattern: id))
    table.withLock { _ = $0.hooks.removeValue(forKey: id) }
  }

  /// Runs the timers that are due, of all associations. The stack takes one caller at a time; another one leaves it to
  /// the first.
  static func tick() {
    let elapsed = time.withLock { time -> UInt32? in
      let now = MediaTime.now
      let milliseconds = (now - time.last).nanoseconds / 1_000_000
      guard !time.isTicking, milliseconds > 0 else { return nil }
      time.isTicking = true
      time.last = time.last + .milliseconds(milliseconds)
      return UInt32(clamping: milliseconds)
    }
    guard let elapsed else { return }
    usrsctp_handle_timers(elapsed)
    time.withLock { $0.isTicking = false }
  }

  static func hooks(_ id: UInt) -> Hooks? { table.withLock { $0.hooks[id] } }
}
