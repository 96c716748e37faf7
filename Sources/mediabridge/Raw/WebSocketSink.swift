import Egress
import Foundation
import MediaBridge
import MediaCore
import SignalTransport

/// A WebSocket server that takes audio as LiveKit's track egress sends it: binary messages with samples, and text messages
/// that say when it is muted. One that is lost is tried again.
final class WebSocketSink: RawSink {
  private struct State {
    var socket: MessageSocket?
    var isAbandoned = false
  }

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

  func begin(header: [UInt8]) throws(LiveKitError) { try open() }

  func write(_ piece: RawPiece, number: Int) throws(LiveKitError) {
    while true {
      guard let socket = state.withLock({ $0.socket }) else { throw cancelled }
      do throws(SignalError) {
        switch piece.body {
        case .bytes(let bytes): return try socket.send(bytes)
        case .silence(let count): return try send(silence: count, to: socket)
        case .text(let text): return try socket.send(text: text)
        }
      } catch { try recover(from: error) }
    }
  }

  private static let silence = [UInt8](repeating: 0, count: 65_536)

  private func send(silence count: Int, to socket: MessageSocket) throws(SignalError) {
    var rest = count
    while rest > 0 {
      let part = min(rest, Self.silence.count)
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
    tell("\(name): \(reason(loss)): it is tried again.")
    let limit = MediaTime.now + reconnectFor
    var last = failure(loss)
    for attempt in 0... {
      let delay = Self.delays[min(attempt, Self.delays.count - 1)]
      guard MediaTime.now + delay < limit, wait(delay) else { break }
      do throws(LiveKitError) {
        try open()
        return tell("\(name) is back.")
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

  private func open() throws(LiveKitError) {
    let opened = Locked<Result<MessageSocket, SignalError>?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task { [url] in
      let result: Result<MessageSocket, SignalError>
      do throws(SignalError) {
        result = .success(try await MessageSocket.open(url, headers: ["Content-Type": "audio/x-raw"]))
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
      if !state.isAbandoned { state.socket = socket }
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
    LiveKitError(.output, "\(name): \(reason(error))", fault: .destination)
  }

  /// Nobody said that a LiveKit server is there.
  private func reason(_ error: SignalError) -> String {
    switch error {
    case .invalidURL: "that is no address; give ws://HOST:PORT/PATH"
    case .notLiveKit: "what answers is no WebSocket server; check the address"
    case .refused(let status, _): "no WebSocket there (HTTP \(status)); check the path"
    case .lost(_, let reason): "the connection is lost, \(reason)"
    default: error.description
    }
  }
}
