import Dispatch
import GStreamerKit
import MediaCore

/// A LiveKit room that this process takes part in. Once connected it lives until it is disconnected.
///
/// All properties may be read from any thread. Delegates are told on one queue, in order.
public final class Room: Sendable {
  struct State {
    var connectionState = ConnectionState.disconnected
    var sid = ""
    var name = ""
    var metadata = ""
    var isRecording = false
    var activeSpeakers: [Participant] = []
    var participants: [String: RemoteParticipant] = [:]
    var session: RoomSession?
    /// One whose connection has ended, until everybody has been sent the news.
    var ending: RoomSession?
    var disconnectError: LiveKitError?
  }

  /// This process. It has a SID and an identity once connected.
  public let localParticipant = LocalParticipant(info: .init())
  package let options: RoomOptions
  let state = Locked(State())
  /// Told of everything that happens here.
  public let delegates = MulticastDelegate<any RoomDelegate>()
  private let notifier = RoomNotifier()

  /// A room that is not connected; nothing happens before `connect(url:token:connectOptions:)`.
  public init(roomOptions: RoomOptions = RoomOptions()) { options = roomOptions }

  /// A room that tells `delegate` from the beginning; held weakly.
  public convenience init(delegate: any RoomDelegate, roomOptions: RoomOptions = RoomOptions()) {
    self.init(roomOptions: roomOptions)
    add(delegate: delegate)
  }

  /// Where the connection stands now.
  public var connectionState: ConnectionState { state.withLock { $0.connectionState } }
  /// Why the last connection ended; nil while one stands and after `disconnect()`.
  public var disconnectError: LiveKitError? { state.withLock { $0.disconnectError } }
  /// The server's id of this room; empty before the first connection.
  public var sid: String { state.withLock { $0.sid } }
  /// As the server calls it, which the token says; empty before the first connection.
  public var name: String { state.withLock { $0.name } }
  /// The room's metadata, which the application sets by the server's API; empty without.
  public var metadata: String { state.withLock { $0.metadata } }
  /// Whether somebody records the room, as the server knows it.
  public var isRecording: Bool { state.withLock { $0.isRecording } }
  /// Who speaks now, the loudest first.
  public var activeSpeakers: [Participant] { state.withLock { $0.activeSpeakers } }
  /// The other participants, by identity.
  public var remoteParticipants: [String: RemoteParticipant] { state.withLock { $0.participants } }

  /// The same that delegates are told, from now on; each call makes a stream of its own, which ends when the room is
  /// left. One that is made after that, or by a delegate that is being told of it, is for the next connection.
  public var events: AsyncStream<RoomEvent> { notifier.makeStream() }

  /// Held weakly.
  public func add(delegate: any RoomDelegate) { delegates.add(delegate: delegate) }
  /// It is told nothing more, but for a call that is under way.
  public func remove(delegate: any RoomDelegate) { delegates.remove(delegate: delegate) }

  /// Joins the room that the token names, and returns once media is connected.
  /// - Throws: `LiveKitError` with what to do about it.
  public func connect(
    url: String, token: String, connectOptions: ConnectOptions = ConnectOptions()
  ) async throws(LiveKitError) {
    let session = RoomSession(room: self, options: options, connect: connectOptions)
    // Who is told of two connections is told of one after the other.
    while let earlier = state.withLock({ $0.ending }) { await earlier.end(with: nil) }
    let old = state.withLock { state -> ConnectionState? in
      guard state.session == nil, state.ending == nil else { return nil }
      state.session = session
      state.disconnectError = nil
      defer { state.connectionState = .connecting }
      return state.connectionState
    }
    guard let old else {
      throw LiveKitError(.invalidState, "this room is connected already; disconnect it first")
    }
    localParticipant.session.withLock { $0 = session }
    tell(.connectionStateChanged(.connecting, from: old))
    do throws(LiveKitError) {
      try await session.connect(url: url, token: token)
    } catch {
      await session.end(with: error)
      throw error
    }
  }

  /// Leaves. When it returns, no thread, socket or pipeline of the room is left.
  public func disconnect() async {
    guard let session = state.withLock({ $0.session ?? $0.ending }) else { return }
    await session.leave()
  }

  // MARK: For the session

  func tell(_ event: RoomEvent) { notifier.send(event, from: self) }

  /// - Parameter session: whose state it is; another one's is left alone.
  /// - Returns: whether the state is the new one.
  @discardableResult
  func change(to new: ConnectionState, of session: RoomSession) -> Bool {
    let old = state.withLock { state -> ConnectionState? in
      guard state.session === session else { return nil }
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
    let old = state.withLock { state in
      (state.session, state.ending) = (nil, state.session)
      state.disconnectError = error
      state.participants = [:]
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
