import Foundation
import LiveKitProtocol
import MediaCore
import PeerTransport

/// One client in a room: its signalling, what it publishes and what it is sent. Lives on the server's loop.
final class DevParticipant {
  let room: DevRoom
  let sid = Identifier.make("PA_")
  let subscribesAutomatically: Bool
  let usesAdaptiveStream: Bool
  private(set) var publisher: PublisherSession!
  private(set) var subscriber: SubscriberSession!
  var info = Livekit_ParticipantInfo()
  private(set) var hasLeft = false
  /// Whom this participant lets receive its tracks; nil for everyone.
  private var subscriptionPermission: Livekit_SubscriptionPermission?
  private(set) var socket: ClientSocket
  private let configuration: DevServerConfiguration

  init(
    request: JoinRequest, socket: ClientSocket, room: DevRoom, loop: TransportLoop,
    configuration: DevServerConfiguration
  ) {
    self.room = room
    self.socket = socket
    self.configuration = configuration
    subscribesAutomatically = request.autoSubscribe
    usesAdaptiveStream = request.adaptiveStream
    describe(request.token)
    publisher = PublisherSession(participant: self, loop: loop, configuration: configuration)
    subscriber = SubscriberSession(participant: self, loop: loop, configuration: configuration)
  }

  var identity: String { info.identity }
  var isHidden: Bool { info.permission.hidden }
  var isActive: Bool { info.state == .active }

  private func describe(_ token: AccessToken) {
    info.sid = sid
    info.identity = token.identity
    info.name = token.name ?? ""
    info.metadata = token.metadata ?? ""
    info.attributes = token.attributes ?? [:]
    info.kind = token.kind == "agent" ? .agent : .standard
    info.state = .joined
    info.joinedAt = Int64(Date().timeIntervalSince1970)
    info.permission.canPublish = token.video.canPublish ?? true
    info.permission.canSubscribe = token.video.canSubscribe ?? true
    info.permission.canPublishData = token.video.canPublishData ?? info.permission.canPublish
    info.permission.canUpdateMetadata = token.video.canUpdateOwnMetadata ?? false
    info.permission.hidden = token.video.hidden ?? false
    info.permission.recorder = token.video.recorder ?? false
  }

  func send(_ response: Livekit_SignalResponse) { socket.send(response) }

  /// As a LiveKit server does: what has changed meanwhile, and another way for the media, whether it needs one or not.
  func resume(over socket: ClientSocket) {
    self.socket.close()
    self.socket = socket
    var response = Livekit_SignalResponse()
    response.reconnect.iceServers = announcedICEServers
    response.reconnect.serverInfo = serverInfo
    send(response)
    response = Livekit_SignalResponse()
    response.update.participants =
      room.recentDepartures + [info] + room.others(than: self).filter { !$0.isHidden }.map(\.info)
    send(response)
    response = Livekit_SignalResponse()
    response.roomUpdate.room = room.info
    send(response)
    subscriber.restartICE()
  }

  /// The join response, followed by the offer of the subscriber's connection, which is the primary one.
  func welcome() {
    var response = Livekit_SignalResponse()
    response.join.room = room.info
    response.join.participant = info
    response.join.otherParticipants = room.others(than: self).filter { !$0.isHidden }.map(\.info)
    response.join.serverVersion = serverInfo.version
    response.join.serverInfo = serverInfo
    response.join.subscriberPrimary = true
    response.join.pingInterval = configuration.pingInterval
    response.join.pingTimeout = configuration.pingTimeout
    response.join.iceServers = announcedICEServers
    response.join.enabledPublishCodecs = PublishedTrack.codecs.map { name in
      var codec = Livekit_Codec()
      codec.mime = name
      return codec
    }
    send(response)
    subscriber.start(with: subscribesAutomatically ? room.tracks(for: self) : [])
  }

  private var serverInfo: Livekit_ServerInfo {
    var info = Livekit_ServerInfo()
    info.version = "1.9.0"
    info.protocol = 15
    info.nodeID = "mediabridge-dev"
    return info
  }

  private var announcedICEServers: [Livekit_ICEServer] {
    configuration.iceServers.map { server in
      var announced = Livekit_ICEServer()
      announced.urls = server.urls
      announced.username = server.username
      announced.credential = server.credential
      return announced
    }
  }

  /// The primary connection is up and its data channels are open: from now on media flows.
  func becameActive() {
    guard !isActive, !hasLeft else { return }
    info.state = .active
    room.announce(self)
    guard subscribesAutomatically else { return }
    for (track, publisher) in room.tracks(for: self) { subscriber.subscribe(to: track, of: publisher) }
  }

  func sendLeave(_ reason: Livekit_DisconnectReason) {
    var response = Livekit_SignalResponse()
    response.leave.reason = reason
    response.leave.action = .disconnect
    send(response)
    info.disconnectReason = reason
    hasLeft = true
  }

  /// Closes the socket and hands over the transports, which close on their own time.
  func end() -> [PeerConnection] {
    hasLeft = true
    socket.close()
    return [publisher.end(), subscriber.end()].compactMap { $0 }
  }
}

// MARK: - Requests

extension DevParticipant {
  func handle(_ request: Livekit_SignalRequest) {
    guard !hasLeft else { return }
    configuration.onRequest(identity, request)
    switch request.message {
    case .offer(let offer): publisher.receive(offer: offer)
    case .answer(let answer): subscriber.receive(answer: answer)
    case .trickle(let trickle): handle(trickle)
    case .addTrack(let track): publisher.add(track)
    case .mute(let mute): publisher.setMuted(mute.muted, trackSid: mute.sid)
    case .subscription(let update): handle(update)
    case .syncState(let state): handle(state)
    case .trackSetting(let settings):
      for sid in settings.trackSids { subscriber.apply(settings, trackSid: sid) }
    case .subscriptionPermission(let permission):
      subscriptionPermission = permission
      room.permissionsChanged(of: self)
    case .updateMetadata(let update): handle(update)
    case .pingReq(let ping): answer(ping)
    case .ping(let timestamp):
      var response = Livekit_SignalResponse()
      response.pong = timestamp
      send(response)
    case .leave:
      info.disconnectReason = .clientInitiated
      hasLeft = true
    default: break
    }
  }

  private func answer(_ ping: Livekit_Ping) {
    var response = Livekit_SignalResponse()
    response.pongResp.lastPingTimestamp = ping.timestamp
    response.pongResp.timestamp = Int64(Date().timeIntervalSince1970 * 1000)
    send(response)
  }

  /// Whether `participant` may receive this one's track.
  func allows(_ participant: DevParticipant, trackSid: String) -> Bool {
    guard let permission = subscriptionPermission, !permission.allParticipants else { return true }
    return permission.trackPermissions.contains { entry in
      let isMeant =
        entry.participantIdentity.isEmpty
        ? entry.participantSid == participant.sid : entry.participantIdentity == participant.identity
      return isMeant && (entry.allTracks || entry.trackSids.contains(trackSid))
    }
  }

  private func handle(_ update: Livekit_UpdateParticipantMetadata) {
    var response = Livekit_SignalResponse()
    response.requestResponse.requestID = update.requestID
    guard info.permission.canUpdateMetadata else {
      response.requestResponse.reason = .notAllowed
      response.requestResponse.message = "the token does not grant canUpdateOwnMetadata"
      return send(response)
    }
    if !update.name.isEmpty { info.name = update.name }
    if !update.metadata.isEmpty { info.metadata = update.metadata }
    // An empty value removes an attribute.
    info.attributes.merge(update.attributes) { _, new in new }
    info.attributes = info.attributes.filter { !$0.value.isEmpty }
    response.requestResponse.reason = .ok
    send(response)
    room.announce(self)
  }

  /// What a client that has come back asked for before.
  private func handle(_ state: Livekit_SyncState) {
    for sid in state.trackSidsDisabled {
      var settings = Livekit_UpdateTrackSettings()
      settings.disabled = true
      subscriber.apply(settings, trackSid: sid)
    }
    handle(state.subscription)
  }

  private func handle(_ trickle: Livekit_TrickleRequest) {
    guard let candidate = CandidateInit.parse(trickle.candidateInit) else { return }
    trickle.target == .publisher ? publisher.add(candidate) : subscriber.add(candidate)
  }

  private func handle(_ update: Livekit_UpdateSubscription) {
    let sids = update.trackSids + update.participantTracks.flatMap(\.trackSids)
    for sid in sids {
      if !update.subscribe {
        subscriber.unsubscribe(from: sid)
      } else if let (track, owner) = room.track(sid: sid) {
        subscriber.subscribe(to: track, of: owner)
      } else {
        subscriber.sendError(.seTrackNotfound, trackSid: sid)
      }
    }
  }
}
