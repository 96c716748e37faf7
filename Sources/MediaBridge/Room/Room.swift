import Dispatch
import GStreamerKit
import MediaCore

/// A LiveKit room that this process takes part in. Once connected it lives until it is disconnected.
///
/// All properties may be read from any thread. Delegates are told on one queue, in order.
public final class Room: Sendable {
  struct State {
    var connectionState = ConnectionState.disconnected
    var details = RoomDetails()
    var options: RoomOptions
    var activeSpeakers: [Participant] = []
    var participants: [String: RemoteParticipant] = [:]
    var left = LeftParticipants()
    var session: RoomSession?
    /// One whose connection has ended, until everybody has been sent the news.
    var ending: RoomSession?
    var disconnectError: LiveKitError?
  }

  /// This process. It has a SID and an identity once connected.
  public let localParticipant = LocalParticipant(info: .init())
  private let connectOptions: ConnectOptions
  let state: Locked<State>
  /// Told of everything that happens here.
  public let delegates = MulticastDelegate<any RoomDelegate>()
  private let notifier = RoomNotifier()

  /// A room that is not connected; nothing happens before `connect(url:token:connectOptions:roomOptions:)`.
  /// - Parameters:
  ///   - delegate: told from the beginning; held weakly.
  ///   - connectOptions: for a `connect` that has none of its own.
  ///   - roomOptions: for a `connect` that has none of its own.
  public init(
    delegate: (any RoomDelegate)? = nil, connectOptions: ConnectOptions? = nil, roomOptions: RoomOptions? = nil
  ) {
    self.connectOptions = connectOptions ?? ConnectOptions()
    state = Locked(State(options: roomOptions ?? RoomOptions()))
    if let delegate { add(delegate: delegate) }
  }

  package var options: RoomOptions { state.withLock { $0.options } }

  /// Where the connection stands now.
  public var connectionState: ConnectionState { state.withLock { $0.connectionState } }
  /// Why the last connection ended; nil while one stands and after `disconnect()`.
  public var disconnectError: LiveKitError? { state.withLock { $0.disconnectError } }
  /// Who speaks now, the loudest first.
  public var activeSpeakers: [Participant] { state.withLock { $0.activeSpeakers } }
  /// The other participants, by identity.
  public var remoteParticipants: [String: RemoteParticipant] { state.withLock { $0.participants } }
  /// The others and this process, by identity.
  public var allParticipants: [String: Participant] {
    var all: [String: Participant] = remoteParticipants
    if let identity = localParticipant.identity { all[identity] = localParticipant }
    return all
  }

  /// The same that delegates are told, from now on; each call makes a stream of its own, which ends when the room is
  /// left. One that is made after that, or by a delegate that is being told of it, is for the next connection.
  ///
  /// The newest 65,536 that nobody has read yet are kept, data messages included. Of older ones the log says that they
  /// are lost: read a stream to its end, or let go of it.
  public var events: AsyncStream<RoomEvent> { notifier.makeStream() }

  /// Whether the server answers on the way that media takes. That it does not is noticed by itself only after up to half
  /// a minute.
  package func isAnswered(within limit: Duration) async -> Bool {
    guard let session = state.withLock({ $0.session }) else { return false }
    return await session.isAnswered(within: limit)
  }

  /// Held weakly.
  public func add(delegate: any RoomDelegate) { delegates.add(delegate: delegate) }
  /// It is told nothing more, but for a call that is under way.
  public func remove(delegate: any RoomDelegate) { delegates.remove(delegate: delegate) }

  /// Joins the room that the token names, and returns once media is connected.
  /// - Parameters:
  ///   - connectOptions: nil for those that the room was made with.
  ///   - roomOptions: how the room is received from now on; nil as before.
  /// - Throws: `LiveKitError` with what to do about it.
  public func connect(
    url: String, token: String, connectOptions: ConnectOptions? = nil, roomOptions: RoomOptions? = nil
  ) async throws(LiveKitError) {
    let connectOptions = connectOptions ?? self.connectOptions
    let session = RoomSession(room: self, options: roomOptions ?? options, connect: connectOptions)
    // Who is told of two connections is told of one after the other.
    while let earlier = state.withLock({ $0.ending }) { await earlier.end(with: nil) }
    let old = state.withLock { state -> ConnectionState? in
      guard state.session == nil, state.ending == nil else { return nil }
      state.session = session
      if let roomOptions { state.options = roomOptions }
      state.details.url = url
      state.disconnectError = nil
      defer { state.connectionState = .connecting }
      return state.connectionState
    }
    guard let old else {
      throw LiveKitError(.invalidState, "this room is connected already; disconnect it first")
    }
    tell(.connectionStateChanged(.connecting, from: old))
    do throws(LiveKitError) {
      try await session.connect(url: url, token: token)
    } catch {
      await session.end(with: error)
      throw error
    }
  }

  /// Leaves, once the server has acknowledged all messages, for which it has 2 s. When it returns, no thread, socket or
  /// pipeline of the room is left, but for what does not stop within 10 s, such as a device or a renderer that hangs:
  /// the log names it.
  public func disconnect() async {
    guard let session = state.withLock({ $0.session ?? $0.ending }) else { return }
    change(to: .disconnecting, of: session)
    await session.leave()
  }

  /// Returns once the server has acknowledged the messages that were sent, as `disconnect()` does first.
  /// - Returns: false where it has not within 2 s, or nothing comes to it now.
  package func flushMessages() async -> Bool { await state.withLock({ $0.session })?.flush() ?? true }

  // MARK: For the session

  var messages: Messages { localParticipant.messages }

  func tell(_ event: RoomEvent) { notifier.send(event, from: self) }

  /// Tells it while that session is the room's: what did not stop in time comes behind the end of its connection, and
  /// maybe in the next one.
  func tell(_ event: RoomEvent, of session: RoomSession) {
    if state.withLock({ $0.session === session }) { tell(event) }
  }

  /// - Parameter session: whose state it is; another one's is left alone.
  /// - Returns: whether the state is the new one.
  @discardableResult
  func change(to new: ConnectionState, of session: RoomSession) -> Bool {
    let old = state.withLock { state -> ConnectionState? in
      guard state.session === session, state.connectionState != .disconnecting else { return nil }
      defer { state.connectionState = new }
      return state.connectionState
    }
    guard let old else { return false }
    if old != new { tell(.connectionStateChanged(new, from: old)) }
    return true
  }

  /// Forgets the connection and what was learnt over it.
  func ended(_ error: LiveKitError?) {
    localParticipant.session.withLock { $0 = nil }
    localParticipant.activity.withLock { ($0.isSpeaking, $0.audioLevel) = (false, 0) }
    let old = state.withLock { state in
      (state.session, state.ending) = (nil, state.session)
      state.disconnectError = error
      (state.participants, state.left) = ([:], LeftParticipants())
      state.activeSpeakers = []
      defer { state.connectionState = .disconnected }
      return state.connectionState
    }
    let end: RoomEvent =
      if old == .connecting, let error { .connectionFailed(error) } else { .disconnected(error) }
    notifier.end(with: [.connectionStateChanged(.disconnected, from: old), end], from: self)
    // From now on there may be another one, which is told of after this.
    state.withLock { $0.ending = nil }
  }
}
