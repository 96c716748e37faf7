import LiveKitProtocol

public import struct Foundation.Date

/// What the server says of a room and of itself.
struct RoomDetails: Sendable {
  var sid = ""
  var name = ""
  var metadata = ""
  var isRecording = false
  var creationTime: Date?
  var counts = Counts()
  var server = Server()
  /// As `connect` was given it.
  var url: String?

  struct Counts: Sendable {
    var participants = 0
    var publishers = 0
    var maximum = 0
  }

  struct Server: Sendable {
    var version: String?
    var region: String?
    var node: String?
  }

  mutating func learn(_ info: Livekit_Room) {
    // A server may make it while we join (`SupportsAsyncRoomID`), and tells it later.
    if !info.sid.isEmpty || info.name != name { sid = info.sid }
    (name, metadata, isRecording) = (info.name, info.metadata, info.activeRecording)
    creationTime = Date(serverMilliseconds: info.creationTimeMs, seconds: info.creationTime)
    counts = Counts(
      participants: Int(info.numParticipants), publishers: Int(info.numPublishers), maximum: Int(info.maxParticipants))
  }

  mutating func learn(_ join: Livekit_JoinResponse) {
    func said(_ words: String, _ older: String = "") -> String? {
      let words = words.isEmpty ? older : words
      return words.isEmpty ? nil : words
    }
    server = Server(
      version: said(join.serverInfo.version, join.serverVersion),
      region: said(join.serverInfo.region, join.serverRegion), node: said(join.serverInfo.nodeID))
  }
}

extension Room {
  /// The server's id of this room; empty before the first connection.
  public var sid: String { details.sid }
  /// As the server calls it, which the token says; empty before the first connection.
  public var name: String { details.name }
  /// The room's metadata, which the application sets by the server's API; empty without.
  public var metadata: String { details.metadata }
  /// Whether somebody records the room, as the server knows it.
  public var isRecording: Bool { details.isRecording }
  /// When the room was made, by the server's clock; nil where it does not say.
  public var creationTime: Date? { details.creationTime }
  /// How many are in the room without those who are hidden, as the server counts them now and then.
  public var participantCount: Int { details.counts.participants }
  /// How many of them publish.
  public var publishersCount: Int { details.counts.publishers }
  /// How many the server lets in; 0 for as many as come.
  public var maxParticipants: Int { details.counts.maximum }
  /// Such as `1.13.5`; nil before the first connection, and where the server does not say.
  public var serverVersion: String? { details.server.version }
  /// Where the server stands; nil where it does not say.
  public var serverRegion: String? { details.server.region }
  /// Which of several servers it is; nil where it does not say.
  public var serverNodeId: String? { details.server.node }
  /// As `connect` was given it; nil before.
  public var url: String? { details.url }

  private var details: RoomDetails { state.withLock { $0.details } }
}
