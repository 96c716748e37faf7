import MediaCore

public import struct Foundation.Date

/// Someone in the room.
///
/// `@unchecked Sendable`: the subclasses add only `Locked` values, like this class.
public class Participant: @unchecked Sendable {
  struct Info {
    var sid = ""
    var identity: String?
    var name: String?
    var metadata: String?
    var attributes: [String: String] = [:]
    var permissions = ParticipantPermissions()
    var joinedAt: Date?
    var kind = Kind.standard
    var state = ParticipantState.unknown
    /// What its client reads, as LiveKit counts; 0 where it says nothing of it.
    var clientProtocol = 0
  }

  struct Activity {
    var isSpeaking = false
    var audioLevel: Float = 0
    var lastSpokeAt: Date?
    var connectionQuality = ConnectionQuality.unknown
  }

  let info: Locked<Info>
  let activity = Locked(Activity())
  /// Told what happens to this participant, after the room's delegates.
  public let delegates = MulticastDelegate<any ParticipantDelegate>()

  init(info: Info) { self.info = Locked(info) }

  /// The server's id of this stay in the room; another one after the participant came back.
  public var sid: String { info.withLock { $0.sid } }
  /// The name the token was made for; unique in the room.
  public var identity: String? { info.withLock { $0.identity } }
  /// What the participant is called for people; nil when the server does not know. Anybody may choose any name.
  public var name: String? { info.withLock { $0.name } }
  /// Any text, which the token or the participant has set; nil without.
  public var metadata: String? { info.withLock { $0.metadata } }
  /// Texts by name, which the token or the participant has set.
  public var attributes: [String: String] { info.withLock { $0.attributes } }
  /// What the token, or the server since, allows.
  public var permissions: ParticipantPermissions { info.withLock { $0.permissions } }
  /// When the participant joined, by the server's clock; nil where the server does not say.
  public var joinedAt: Date? { info.withLock { $0.joinedAt } }
  /// What kind of participant it is, as its token says.
  public var kind: Kind { info.withLock { $0.kind } }
  /// How far the participant has come in joining, or whether it has left.
  public var state: ParticipantState { info.withLock { $0.state } }
  /// Whether the server counts the participant among the active speakers.
  public var isSpeaking: Bool { activity.withLock { $0.isSpeaking } }
  /// How loud, from 0 to 1, as the server measures it; 0 while not speaking.
  public var audioLevel: Float { activity.withLock { $0.audioLevel } }
  /// When this participant was last known to speak; nil before the first time.
  public var lastSpokeAt: Date? { activity.withLock { $0.lastSpokeAt } }
  /// The server's judgement of this participant's connection.
  public var connectionQuality: ConnectionQuality { activity.withLock { $0.connectionQuality } }
  /// Whether it is this process: false for all others.
  public var isLocal: Bool { false }
  /// By track SID; see ``Publishing/trackPublications``.
  var allPublications: [Track.Sid: TrackPublication] { [:] }
}

/// This process, as the others in the room see it.
///
/// `@unchecked Sendable`: adds only `Locked` values.
public final class LocalParticipant: Participant, @unchecked Sendable {
  /// What it sends on; nil without a connection, and until the server has said what may be sent on it.
  let session = Locked<RoomSession?>(nil)
  /// By track SID.
  let publications = Locked<[String: LocalTrackPublication]>([:])
  /// What is said in the room; it goes on from session to session.
  let messages = Messages()
  /// Publishing and muting by source, one after the other for each.
  let changes = Locked<[Track.Source: TaskChain]>([:])

  /// Always true.
  public override var isLocal: Bool { true }
  override var allPublications: [Track.Sid: TrackPublication] { publications.withLock { $0 } }

  func connectedSession() throws(LiveKitError) -> RoomSession {
    guard let session = session.withLock({ $0 }) else { throw RoomSession.notConnected }
    return session
  }
}

/// Another participant, and what it publishes.
///
/// `@unchecked Sendable`: adds only `Locked` values.
public final class RemoteParticipant: Participant, @unchecked Sendable {
  private let publications = Locked<[String: RemoteTrackPublication]>([:])

  /// By track SID.
  public var trackPublications: [String: RemoteTrackPublication] { publications.withLock { $0 } }
  override var allPublications: [Track.Sid: TrackPublication] { publications.withLock { $0 } }
  /// The publications of video, subscribed or not, sorted by SID.
  public var videoTracks: [RemoteTrackPublication] { trackPublications.sorted(where: { $0.kind == .video }) }
  /// The publications of audio, subscribed or not, sorted by SID.
  public var audioTracks: [RemoteTrackPublication] { trackPublications.sorted(where: { $0.kind == .audio }) }

  func publication(sid: String) -> RemoteTrackPublication? { publications.withLock { $0[sid] } }
  func insert(_ publication: RemoteTrackPublication) {
    let sid = publication.sid
    publication.participant = self
    publications.withLock { $0[sid] = publication }
  }
  func rename(_ publication: RemoteTrackPublication, to sid: String) {
    publications.withLock { publications in
      publications[publication.sid] = nil
      publications[sid] = publication
    }
    publication.info.withLock { $0.sid = sid }
  }
  func remove(sid: String) -> RemoteTrackPublication? { publications.withLock { $0.removeValue(forKey: sid) } }
}
