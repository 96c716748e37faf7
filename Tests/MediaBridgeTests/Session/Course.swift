import LiveKitProtocol
import MediaCore
import PeerTransport

@testable import MediaBridge

/// A session at the watch of a clock that stands unless it is moved.
struct Course {
  final class Media: Sendable {}

  private(set) var state: SessionState
  private var time = MediaTime(nanoseconds: 0)
  /// Of alice's camera in the first session.
  let media = Media()

  init(_ connect: ConnectOptions = ConnectOptions()) {
    state = SessionState(SessionState.Options(connect: connect, chance: { 0 }))
  }

  @discardableResult
  mutating func handle(_ event: SessionEvent) -> [SessionAction] { state.handle(event, at: time) }

  mutating func advance(by duration: Duration, _ demand: TrackDemand = .everything) -> [SessionAction] {
    time = time + duration
    return state.poll(at: time) { _ in demand }
  }

  /// In a room, with alice's camera.
  static func standing(_ identities: [String] = ["alice"], _ connect: ConnectOptions = ConnectOptions()) -> Course {
    var course = Course(connect)
    course.handle(.connect(server: "server"))
    course.join(identities)
    course.handle(.media(["TR_alice": ObjectIdentifier(course.media)]))
    return course
  }

  // MARK: Connections

  mutating func join(_ identities: [String], isConnected: Bool = true) {
    var join = Livekit_JoinResponse()
    join.participant.identity = "watcher"
    join.otherParticipants = identities.map { Self.info(of: $0) }
    handle(.opened)
    handle(.response(.join(join)))
    if isConnected { handle(.transport(.connected)) }
  }

  mutating func lose(_ remedy: ReconnectMode) {
    handle(.signalEnded(SessionFailure(LiveKitError(.disconnected, "lost"), remedy: remedy)))
  }

  mutating func resume() -> [SessionAction] {
    handle(.opened)
    return handle(.response(.reconnect(Livekit_ReconnectResponse())))
  }

  // MARK: What the server says

  /// Somebody with a camera.
  static func info(
    of identity: String, _ state: Livekit_ParticipantInfo.State = .active,
    encryption: Livekit_Encryption.TypeEnum = .none
  ) -> Livekit_ParticipantInfo {
    var info = Livekit_ParticipantInfo()
    (info.identity, info.sid, info.state) = (identity, "PA_\(identity)", state)
    var track = Livekit_TrackInfo()
    (track.sid, track.type, track.source, track.encryption) = ("TR_\(identity)", .video, .camera, encryption)
    info.tracks = [track]
    return info
  }

  @discardableResult
  mutating func update(_ infos: [Livekit_ParticipantInfo]) -> [SessionAction] {
    var update = Livekit_ParticipantUpdate()
    update.participants = infos
    return handle(.response(.update(update)))
  }

  mutating func updateRoom() { handle(.response(.roomUpdate(Livekit_RoomUpdate()))) }
}

extension [SessionAction] {
  /// What the server is told without asking whether it has left.
  var subscriptions: [Livekit_UpdateSubscription] {
    compactMap { action in
      guard case .connection(.send(let request)) = action, case .subscription(let update) = request.message else {
        return nil
      }
      return update
    }
  }
}
