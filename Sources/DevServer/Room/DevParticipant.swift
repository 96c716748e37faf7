import Foundation
import LiveKitProtocol
import MediaCore
import PeerTransport

/// One client in a room: its signalling, what it publishes and what it is sent. Lives on the server's loop.
final class DevParticipant {
  private(set) var room: DevRoom
  private(set) var sid = Identifier.make("PA_")
  let token: AccessToken
  let subscribesAutomatically: Bool
  let usesAdaptiveStream: Bool
  let protocolVersion: Int
  private(set) var publisher: PublisherSession!
  private(set) var subscriber: SubscriberSession!
  /// Of the primary connection.
  let channels: MessageChannels
  /// Which connection is the primary one, on which it becomes active and is sent messages, is settled at the join.
  let isSubscriberPrimary: Bool
  var info = Livekit_ParticipantInfo()
  var hasLeft = false
  /// Whom this participant lets receive its tracks; nil for everyone.
  var subscriptionPermission: Livekit_SubscriptionPermission?
  private(set) var socket: ClientSocket
  let configuration: DevServerConfiguration
  let loop: TransportLoop
  /// Until another token is sent.
  var tokenTimer: LoopTimer?

  init(
    request: JoinRequest, socket: ClientSocket, room: DevRoom, loop: TransportLoop,
    configuration: DevServerConfiguration
  ) {
    self.room = room
    self.socket = socket
    self.loop = loop
    token = request.token
    self.configuration = configuration
    subscribesAutomatically = request.autoSubscribe
    usesAdaptiveStream = request.adaptiveStream
    protocolVersion = request.protocolVersion
    isSubscriberPrimary = request.token.video.canSubscribe ?? true
    channels = MessageChannels(loop: loop, logger: configuration.logger)
    describe()
    (info.clientProtocol, info.capabilities) = (request.clientProtocol, request.capabilities)
    publisher = PublisherSession(participant: self, loop: loop, configuration: configuration)
    subscriber = SubscriberSession(participant: self, loop: loop, configuration: configuration)
  }

  var identity: String { info.identity }
  var isHidden: Bool { info.permission.hidden }
  var isActive: Bool { info.state == .active }
  /// Whether it is told of that: newer clients take whoever comes back under an identity for who had it before, and do
  /// not hear that they had left.
  func isTold(of info: Livekit_ParticipantInfo) -> Bool {
    let isReplaced = info.state == .disconnected && info.disconnectReason == .duplicateIdentity
    return protocolVersion < 12 || !isReplaced
  }
  var isRecorder: Bool { info.permission.recorder || info.kind == .egress }

  private func describe() {
    info.sid = sid
    info.identity = token.identity
    info.name = token.name ?? ""
    info.metadata = token.metadata ?? ""
    info.attributes = token.attributes ?? [:]
    info.kind = token.kind.flatMap(Livekit_ParticipantInfo.Kind.init(named:)) ?? .standard
    info.state = .joined
    info.joinedAtMs = Int64(Date().timeIntervalSince1970 * 1000)
    info.joinedAt = info.joinedAtMs / 1000
    info.permission.canPublish = token.video.canPublish ?? true
    let sources = token.video.canPublishSources ?? []
    info.permission.canPublishSources = sources.compactMap(Livekit_TrackSource.init(named:))
    info.permission.canSubscribe = token.video.canSubscribe ?? true
    info.permission.canPublishData = token.video.canPublishData ?? info.permission.canPublish
    info.permission.canUpdateMetadata = token.video.canUpdateOwnMetadata ?? false
    info.permission.hidden = token.video.hidden ?? false
    info.permission.recorder = token.video.recorder ?? false
  }

  func mayPublish(_ source: Livekit_TrackSource) -> Bool {
    let sources = info.permission.canPublishSources
    return info.permission.canPublish && (sources.isEmpty || sources.contains(source))
  }

  /// Whether its session can go on where the signalling is lost.
  var canResume: Bool { !publisher.watch.hasFailed && !subscriber.watch.hasFailed }

  func send(_ response: Livekit_SignalResponse) { socket.send(response) }

  /// As a LiveKit server does: who is there, the room, and then another way for the media, whether it needs one or not,
  /// whose offer tells clients that they have heard of everybody. An update that names nobody is not sent.
  func resume(over socket: ClientSocket) {
    self.socket.close()
    self.socket = socket
    var response = Livekit_SignalResponse()
    response.reconnect.iceServers = announcedICEServers
    response.reconnect.serverInfo = serverInfo
    send(response)
    response = Livekit_SignalResponse()
    response.update.participants =
      room.recentDepartures(for: self) + room.participants.filter { !$0.isHidden }.map(\.info)
    if !response.update.participants.isEmpty { send(response) }
    response = Livekit_SignalResponse()
    response.roomUpdate.room = room.info
    send(response)
    subscriber.restartICE()
    refreshToken()
  }

  /// The join response, followed by the offer of the subscriber's connection where that is the primary one: otherwise the
  /// client is to offer its own at once.
  func welcome() {
    var response = Livekit_SignalResponse()
    response.join.room = room.info
    response.join.participant = info
    response.join.otherParticipants = room.others(than: self).filter { !$0.isHidden }.map(\.info)
    response.join.serverVersion = serverInfo.version
    response.join.serverInfo = serverInfo
    response.join.subscriberPrimary = isSubscriberPrimary
    response.join.pingInterval = configuration.pingInterval
    response.join.pingTimeout = configuration.pingTimeout
    response.join.iceServers = announcedICEServers
    response.join.enabledPublishCodecs = PublishedTrack.codecs.map { name in
      var codec = Livekit_Codec()
      codec.mime = name
      return codec
    }
    send(response)
    if isSubscriberPrimary { subscriber.start(with: subscribesAutomatically ? room.tracks(for: self) : []) }
    refreshToken()
  }

  /// On the same connections: whom it was sent media of is forgotten, and what it publishes goes with it.
  /// - Parameter token: to come back to that room with.
  func move(to room: DevRoom, token: String) {
    subscriber.unsubscribeAll()
    self.room = room
    sid = Identifier.make("PA_")
    (info.sid, info.state) = (sid, .active)
    var response = Livekit_SignalResponse()
    response.roomMoved.room = room.info
    response.roomMoved.token = token
    response.roomMoved.participant = info
    response.roomMoved.otherParticipants = room.participants.filter { !$0.isHidden }.map(\.info)
    send(response)
    room.receive(self)
  }

  private var serverInfo: Livekit_ServerInfo {
    var info = Livekit_ServerInfo()
    info.version = "1.9.0"
    info.protocol = 16
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

  /// A data channel of the primary connection.
  func opened(_ channel: DataChannel) {
    if channels.opened(channel) { becameActive() }
  }

  /// The primary connection is up and its data channels are open: from now on media flows.
  private func becameActive() {
    guard !isActive, !hasLeft else { return }
    info.state = .active
    room.announce(self)
    subscribeToAll()
  }

  func subscribeToAll() {
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
    tokenTimer?.cancel()
    socket.close()
    return [publisher.end(), subscriber.end()].compactMap { $0 }
  }
}

extension Livekit_ParticipantInfo.Kind {
  /// As a token calls it; nil for one that is not known.
  fileprivate init?(named name: String) {
    switch name {
    case "ingress": self = .ingress
    case "egress": self = .egress
    case "sip": self = .sip
    case "agent": self = .agent
    default: return nil
    }
  }
}

extension Livekit_TrackSource {
  /// As a token calls it; nil for one that is not known.
  fileprivate init?(named name: String) {
    switch name {
    case "camera": self = .camera
    case "microphone": self = .microphone
    case "screen_share": self = .screenShare
    case "screen_share_audio": self = .screenShareAudio
    default: return nil
    }
  }
}
