import Egress
import Foundation
import MediaBridge
import MediaCore
import SignalTransport

/// A WebSocket server that takes audio as LiveKit's track egress sends it: binary messages with samples, and text messages
/// that say when it is muted. One that is lost is tried again.
final class WebSocketSink: RawSink {
  fileprivate struct State {
    var socket: MessageSocket?
    var isAbandoned = false
    /// What was said last, which one who comes back is to know.
    var said: String?
    var openedAt = MediaTime.now
    /// Since when it has been away, but for moments, and how often it was tried.
    var awaySince: MediaTime?
    var attempts = 0
  }
  /// Whoever takes what is sent for so long is back.
  private static let steady = Duration.seconds(5)

  let name: String
  private let url: String
  private let reconnectFor: Duration
  private let tell: @Sendable (String) -> Void
  private let state = Locked(State())

  /// - Parameters:
  ///   - reconnectFor: how long it may be away.
  ///   - tell: what happens to it, for people.
  init(_ url: String, reconnectFor: Duration, tell: @escaping @Sendable (String) -> Void) {
    (self.url, self.reconnectFor, self.tell) = (url, reconnectFor, tell)
    name = Self.shown(url)
  }

  /// Without what may be secret in it.
  static func shown(_ url: String) -> String {
    guard var parts = URLComponents(string: url) else { return "the WebSocket server" }
    (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
    return parts.string ?? "the WebSocket server"
  }

  /// Why no server has such an address; nil where one may. What fills placeholders is a part of it like any other.
  static func mistake(in url: String) -> String? {
    do throws(SignalError) {
      _ = try SignalURL(url.replacing(/\{[^}]*\}/, with: "x"))
      return nil
    } catch { return "\(shown(url)): \(reason(error))" }
  }

  /// To say what is wrong takes a server as long as to be asked.
  let patience = Duration.seconds(10)
  let takesText = true

  func begin(header: [UInt8]) throws(LiveKitError) { try open(within: patience) }

  func write(_ piece: RawPiece, number: Int) throws(LiveKitError) {
    while true {
      guard let socket = state.withLock({ $0.socket }) else { throw cancelled }
      do throws(SignalError) {
        switch piece.body {
        case .bytes(let bytes): return try send(bytes, to: socket)
        case .silence(let count): return try send(silence: count, to: socket)
        case .text(let text):
          state.withLock { $0.said = text }
          return try socket.send(text: text)
        }
      } catch { try recover(from: error) }
    }
  }

  /// Bytes of a message at most, since servers take no large ones; whole samples of up to eight channels.
  private static let longest = 63_840
  private static let silence = [UInt8](repeating: 0, count: longest)

  private func send(_ bytes: [UInt8], to socket: MessageSocket) throws(SignalError) {
    guard bytes.count > Self.longest else { return try socket.send(bytes) }
    var rest = bytes[...]
    while !rest.isEmpty {
      try socket.send(Array(rest.prefix(Self.longest)))
      rest = rest.dropFirst(Self.longest)
    }
  }

  private func send(silence count: Int, to socket: MessageSocket) throws(SignalError) {
    var rest = count
    while rest > 0 {
      let part = min(rest, Self.longest)
      try socket.send(Array(Self.silence[..<part]))
      rest -= part
    }
  }

  // MARK: The connection

  private static let delays: [Duration] = [.zero, .milliseconds(500), .seconds(1), .seconds(2), .seconds(4)]

  /// Tries again, ever more seldom, until it is back.
  /// - Throws: it has been away for too long.
  private func recover(from loss: SignalError) throws(LiveKitError) {
    guard !state.withLock({ $0.isAbandoned }) else { throw cancelled }
    let isNews = state.withLock { $0.lose(steady: Self.steady) }
    if isNews { tell("\(name): \(Self.reason(loss)): it is tried again.") }
    var last = failure(loss)
    while let delay = state.withLock({ $0.nextDelay(Self.delays, reconnectFor) }), wait(delay) {
      do throws(LiveKitError) {
        try open(within: state.withLock { $0.left(of: reconnectFor) })
        if let said = state.withLock({ $0.said }) { try? state.withLock({ $0.socket })?.send(text: said) }
        return isNews ? tell("\(name) is back.") : ()
      } catch { last = error }
    }
    throw last
  }

  /// - Returns: false when it is wanted no more.
  private func wait(_ time: Duration) -> Bool {
    let end = MediaTime.now + time
    while MediaTime.now < end, !state.withLock({ $0.isAbandoned }) { usleep(20_000) }
    return !state.withLock { $0.isAbandoned }
  }

  private func open(within timeout: Duration) throws(LiveKitError) {
    let opened = Locked<Result<MessageSocket, SignalError>?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task { [url] in
      let result: Result<MessageSocket, SignalError>
      do throws(SignalError) {
        result = .success(try await MessageSocket.open(url, headers: ["Content-Type": "audio/x-raw"], timeout: timeout))
      } catch { result = .failure(error) }
      opened.withLock { $0 = result }
      done.signal()
    }
    done.wait()
    switch opened.withLock({ $0 }) {
    case .success(let socket): keep(socket)
    case .failure(let error): throw failure(error)
    case nil: throw cancelled
    }
  }

  private func keep(_ socket: MessageSocket) {
    let isWanted = state.withLock { state in
      if !state.isAbandoned { (state.socket, state.openedAt) = (socket, .now) }
      return !state.isAbandoned
    }
    if !isWanted { socket.close() }
  }

  func end() { state.withLock { $0.socket }?.finish() }

  func abandon() {
    let socket = state.withLock { state in
      state.isAbandoned = true
      return state.socket
    }
    socket?.close()
  }

  // MARK: Why

  private var cancelled: LiveKitError { LiveKitError(.cancelled, "\(name) was left") }

  private func failure(_ error: SignalError) -> LiveKitError {
    LiveKitError(.output, "\(name): \(Self.reason(error))", fault: .destination)
  }

  /// Nobody said that a LiveKit server is there.
  private static func reason(_ error: SignalError) -> String {
    switch error {
    case .invalidPort(let port, _): "port \(port) does not exist; ports go from 1 to 65535"
    case .invalidURL: "that is no address; give ws://HOST:PORT/PATH"
    case .notLiveKit: "what answers is no WebSocket server; check the address"
    case .refused(let status, _): "no WebSocket there (HTTP \(status)); check the path"
    case .lost(_, let reason): "the connection is lost, \(reason)"
    default: error.description
    }
  }
}

extension WebSocketSink.State {
  /// - Parameter steady: how long one has taken what is sent who was back.
  /// - Returns: whether it was there until now.
  fileprivate mutating func lose(steady: Duration) -> Bool {
    let now = MediaTime.now
    guard awaySince == nil || now - openedAt >= steady else { return false }
    (awaySince, attempts) = (now, 0)
    return true
  }

  /// Until it is tried again; nil when it has been away for too long.
  fileprivate mutating func nextDelay(_ delays: [Duration], _ limit: Duration) -> Duration? {
    let delay = delays[min(attempts, delays.count - 1)]
    attempts += 1
    return delay < left(of: limit) ? delay : nil
  }

  fileprivate func left(of limit: Duration) -> Duration {
    min(limit - (awaySince.map { .now - $0 } ?? .zero), .seconds(10))
  }
}
