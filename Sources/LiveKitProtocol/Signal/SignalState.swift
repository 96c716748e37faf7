public import MediaCore
import SwiftProtobuf

/// One signalling connection from its opening to its end, without I/O: bytes and time go in, what the shell is to do
/// comes out.
///
/// The shell calls `poll` when `nextDeadline` has passed. Nothing comes out after `.end`. Who connects again takes
/// `refreshedToken` and `pings` along and begins a new state with `.resume`.
public struct SignalState: Sendable {
  /// What the connection is for.
  public enum Opening: Sendable, Equatable {
    /// A new session: the server's first message is `join`.
    case join
    /// An earlier session goes on. The server says `reconnect`, and may put updates that were waiting before it.
    /// Only a join tells how to ping, hence the schedule of the earlier connection.
    case resume(PingSchedule?)
  }

  /// What the shell is to do, in order.
  public enum Action: Sendable, Equatable {
    /// Send this to the server.
    case send(Livekit_SignalRequest)
    /// Hand this to whoever runs the session.
    case deliver(Livekit_SignalResponse)
    /// Close the connection, for this reason.
    case end(SignalFailure)
  }

  private enum Phase: Sendable {
    case opening(Opening, deadline: MediaTime)
    case open(KeepAlive?)
    case ended
  }

  /// What the server sent last to join with the next time; secret.
  public private(set) var refreshedToken: String?
  /// As asked for by the join.
  public private(set) var pings: PingSchedule?
  private var phase: Phase

  /// - Parameter limit: how long the server's first message may take.
  public init(_ opening: Opening = .join, at now: MediaTime, limit: Duration) {
    phase = .opening(opening, deadline: now + limit)
    if case .resume(let schedule) = opening { pings = schedule }
  }

  /// Whether nothing more comes out.
  public var isEnded: Bool { if case .ended = phase { true } else { false } }

  /// Round trip of the last ping in milliseconds; 0 before the first.
  public var roundTrip: Int64 { if case .open(let keepAlive?) = phase { keepAlive.roundTrip } else { 0 } }

  /// When `poll` has something to do; nil while it has not.
  public var nextDeadline: MediaTime? {
    switch phase {
    case .opening(_, let deadline): deadline
    case .open(let keepAlive): keepAlive?.nextDeadline
    case .ended: nil
    }
  }

  // MARK: Events

  /// A whole binary message.
  public mutating func receive(_ bytes: [UInt8], at now: MediaTime) -> [Action] {
    guard !isEnded else { return [] }
    guard let response = try? Livekit_SignalResponse(serializedBytes: bytes) else {
      return end(.unreadable("\(bytes.count) bytes that are no protobuf message"))
    }
    // A message of a kind that we do not know is newer than we are; the session does not depend on it.
    guard let message = response.message else { return [] }
    switch phase {
    case .opening(let opening, _): return opened(opening, message, response, at: now)
    case .open: return received(message, response, at: now)
    case .ended: return []
    }
  }

  /// Text is how other signalling protocols talk, and JSON is not asked for.
  public mutating func receiveText() -> [Action] { end(.unreadable("text instead of protobuf")) }

  /// The connection is over, or its framing is broken.
  public mutating func failed(_ failure: SignalFailure) -> [Action] { end(failure) }

  /// This side has had enough; nothing that follows is a failure.
  public mutating func stop() { phase = .ended }

  /// Pings that are due, or the end where the server has been silent for too long.
  public mutating func poll(at now: MediaTime) -> [Action] {
    switch phase {
    case .opening(_, let deadline): return deadline <= now ? end(.noJoin) : []
    case .open(var keepAlive?):
      guard !keepAlive.isDead(at: now) else { return end(.noPong(keepAlive.schedule.timeout)) }
      let ping = keepAlive.ping(at: now)
      phase = .open(keepAlive)
      return ping.map { [.send($0)] } ?? []
    case .open(nil), .ended: return []
    }
  }

  // MARK: Messages

  private mutating func opened(
    _ opening: Opening, _ message: Livekit_SignalResponse.OneOf_Message, _ response: Livekit_SignalResponse,
    at now: MediaTime
  ) -> [Action] {
    switch (opening, message) {
    case (_, .leave): return received(message, response, at: now)
    case (.join, .join(let join)):
      pings = PingSchedule(join)
      phase = .open(pings.map { KeepAlive($0, at: now) })
      return [.deliver(response)]
    case (.join, _), (.resume, .join): return end(.unexpected(message.fieldName))
    case (.resume(let schedule), .reconnect):
      phase = .open(schedule.map { KeepAlive($0, at: now) })
      return [.deliver(response)]
    case (.resume(let schedule), _):
      phase = .open(schedule.map { KeepAlive($0, at: now) })
      return received(message, response, at: now)
    }
  }

  private mutating func received(
    _ message: Livekit_SignalResponse.OneOf_Message, _ response: Livekit_SignalResponse, at now: MediaTime
  ) -> [Action] {
    switch message {
    case .join: return end(.unexpected(message.fieldName))
    case .leave(let leave): return [.deliver(response)] + end(.left(reason: leave.reason, action: leave.action))
    case .refreshToken(let token): refresh(token)
    case .roomMoved(let moved):
      refresh(moved.token)
      return [.deliver(response)]
    case .pong: pong(answering: nil, at: now)
    case .pongResp(let pong): self.pong(answering: pong.lastPingTimestamp, at: now)
    default: return [.deliver(response)]
    }
    return []
  }

  private mutating func refresh(_ token: String) {
    if TokenText.isWellFormed(token) { refreshedToken = token }
  }

  private mutating func pong(answering timestamp: Int64?, at now: MediaTime) {
    guard case .open(var keepAlive?) = phase else { return }
    keepAlive.pong(answering: timestamp, at: now)
    phase = .open(keepAlive)
  }

  private mutating func end(_ failure: SignalFailure) -> [Action] {
    guard !isEnded else { return [] }
    phase = .ended
    return [.end(failure)]
  }
}

extension Livekit_SignalResponse.OneOf_Message {
  /// `offer`, `refreshToken`: the case, without what it holds.
  fileprivate var fieldName: String { Mirror(reflecting: self).children.first?.label ?? "nothing" }
}
