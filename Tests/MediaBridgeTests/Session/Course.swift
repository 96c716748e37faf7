import LiveKitProtocol
import MediaCore
import PeerTransport
import SignalTransport

@testable import MediaBridge

/// A session at the watch of a clock that stands unless it is moved.
struct Course {
  final class Media: Sendable {}

  private(set) var state: SessionState
  private var time = MediaTime(nanoseconds: 0)
  private var restarts = 0
  /// Of alice's camera in the first session.
  let media = Media()

  init(_ connect: ConnectOptions = ConnectOptions(), usesAdaptiveStream: Bool = true) {
    state = SessionState(
      SessionState.Options(usesAdaptiveStream: usesAdaptiveStream, connect: connect, chance: { 0 }))
  }

  @discardableResult
  mutating func handle(_ event: SessionEvent) -> [SessionAction] { state.handle(event, at: time) }

  mutating func advance(by duration: Duration, _ demand: TrackDemand = .everything) -> [SessionAction] {
    time = time + duration
    return state.poll(at: time) { _ in demand }
  }

  /// In a room, with alice's camera.
  static func standing(
    _ identities: [String] = ["alice"], _ connect: ConnectOptions = ConnectOptions(), usesAdaptiveStream: Bool = true
  ) -> Course {
    var course = Course(connect, usesAdaptiveStream: usesAdaptiveStream)
    course.handle(.connect(server: "server"))
    course.join(identities)
    course.offer()
    course.handle(.media(["TR_alice": ObjectIdentifier(course.media)]))
    return course
  }

  // MARK: Connections

  mutating func join(_ identities: [String], isConnected: Bool = true, isSubscriberPrimary: Bool = true) {
    var join = Livekit_JoinResponse()
    (join.participant, join.subscriberPrimary) = (Self.ourselves, isSubscriberPrimary)
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

  /// The server has offered the same again, or with other ICE credentials.
  mutating func offer(restartsICE: Bool = false) {
    if restartsICE { restarts += 1 }
    handle(Self.answered("u\(restarts)"))
  }

  /// - Parameter ufrag: of the offer's ICE.
  static func answered(_ ufrag: String) -> SessionEvent {
    let offer = """
      v=0
      o=- 1 1 IN IP4 127.0.0.1
      s=-
      t=0 0
      m=application 9 UDP/DTLS/SCTP webrtc-datachannel
      c=IN IP4 0.0.0.0
      a=mid:0
      a=ice-ufrag:\(ufrag)
      a=ice-pwd:0123456789012345678901
      """
    return .answered(.init(id: 1, offer: offer, answer: "answer"))
  }

  static var ourselves: Livekit_ParticipantInfo {
    var info = Livekit_ParticipantInfo()
    (info.identity, info.sid, info.state) = ("watcher", "PA_own", .active)
    return info
  }

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

  /// Everybody, as after a resume; ourselves only where we are not hidden.
  mutating func list(_ infos: [Livekit_ParticipantInfo], isHidden: Bool = false) {
    update((isHidden ? [] : [Self.ourselves]) + infos)
  }

  mutating func updateRoom() { handle(.response(.roomUpdate(Livekit_RoomUpdate()))) }
}

extension [SessionAction] {
  /// Why tracks do not come, as the program is told.
  var failures: [(sid: String, error: LiveKitError)] {
    compactMap { action in
      if case .track(_, let sid, .tell(.failed(let error))) = action { (sid, error) } else { nil }
    }
  }

  /// How signalling connections are opened.
  var openings: [(mode: ReconnectMode, reason: ReconnectReason)] {
    compactMap { action in
      if case .connection(.open(let mode, let reason)) = action { (mode, reason) } else { nil }
    }
  }

  /// What the program is told of the room, in words.
  var course: [String] {
    compactMap { action in
      guard case .room(let state) = action else { return nil }
      return switch state {
      case .connected: "connected"
      case .reconnecting(let mode, _, _): "reconnecting \(mode)"
      case .reconnected(let mode): "reconnected \(mode)"
      case .ended: "ended"
      }
    }
  }

  /// Why the room has ended, where that is told.
  var endings: [LiveKitError] {
    compactMap { action in if case .room(.ended(let error)) = action { error } else { nil } }
  }

  /// What the server is told without asking whether it has left.
  var subscriptions: [Livekit_UpdateSubscription] {
    compactMap { action in
      guard case .connection(.send(let request)) = action, case .subscription(let update) = request.message else {
        return nil
      }
      return update
    }
  }

  /// What the server is told of settings before they are told anew.
  var forerunners: [Livekit_UpdateTrackSettings] {
    compactMap { action in
      guard case .connection(.send(let request)) = action, case .trackSetting(let update) = request.message else {
        return nil
      }
      return update
    }
  }
}
