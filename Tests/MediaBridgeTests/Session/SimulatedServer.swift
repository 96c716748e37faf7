import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaCore

@testable import MediaBridge

/// One track, as the program sees it and as the server does.
@MainActor final class Subject {
  final class Media: Sendable {}

  let name: String
  let owner: String
  var sid: String
  let demands = RendererDemands()
  var screens: [Screen] = []
  var outputs = 0
  /// What the program asked for last.
  var isWanted = true

  // At the server.
  var isPublished = true
  var isMuted = false
  /// What the server sends it as; nil while this client is not subscribed there.
  private(set) var sent: Media?
  /// Kept, so that no two have the same identity.
  private var all: [Media] = []
  /// What the server does: the smallest layer until it is told otherwise.
  var server = TrackSettings(quality: .low)

  /// Whether the server is ready to send it.
  private(set) var isBound = false

  // What was sent last on this connection, if nothing was lost since.
  var told: TrackSettings?
  var wasTold = false
  var begun: MediaTime?
  var lastMessage: MediaTime?
  /// Its publisher or the server has ended it since the client heard of it.
  var mayGo = false

  init(_ number: Int) {
    (name, sid, owner) = ("camera-\(number)", "TR_\(number)", number == 0 ? "alice" : "bob")
  }

  /// The model: what page and rules say of these renderers.
  var expected: TrackSettings {
    let visible = screens.filter(\.isVisible)
    if outputs > 0 || visible.contains(where: { !$0.isAdaptiveStreamEnabled }) { return TrackSettings() }
    if visible.isEmpty { return TrackSettings(isEnabled: false, quality: .low) }
    var largest = CGSize.zero
    for size in visible.map(\.adaptiveStreamSize) where size.width > 0 && size.height > 0 {
      let (area, most) = (size.width * size.height, largest.width * largest.height)
      if area > most || area == most && size.width > largest.width { largest = size }
    }
    if largest == .zero { return TrackSettings(quality: .low) }
    return TrackSettings(dimensions: Dimensions(width: Int32(largest.width), height: Int32(largest.height)))
  }

  var info: Livekit_TrackInfo {
    var info = Livekit_TrackInfo()
    (info.sid, info.name, info.type, info.source, info.muted) = (sid, name, .video, .camera, isMuted)
    info.mimeType = "video/VP8"
    return info
  }

  /// - Parameter forgets: whether the server does what it does by itself, and not what it was told of the track before.
  func subscribe(_ isSubscribed: Bool, forgets: Bool = true) {
    guard isSubscribed != (sent != nil) else { return }
    sent = isSubscribed && isPublished ? Media() : nil
    if let sent { all.append(sent) }
    isBound = false
    if forgets { server = TrackSettings(quality: .low) }
  }

  /// As LiveKit's server: with adaptive stream it forgets a pause that came before.
  func bind(_ media: Media) {
    guard sent === media, !isBound else { return }
    (isBound, server.isEnabled) = (true, true)
  }

  var isFlowing: Bool { isBound && server.isEnabled && !isMuted }
}

/// What a LiveKit server knows and says of a room.
@MainActor final class SimulatedServer {
  let subjects: [Subject]
  let autoSubscribe: Bool
  /// How often somebody joined or the server started, for SIDs.
  private var serial = 0
  private(set) var stays: [String: String] = ["alice": "PA_alice", "bob": "PA_bob"]
  /// Whether it knows of a session that could go on.
  private(set) var hasSession = false
  /// Who left while the client could not hear it.
  private var departed: [(identity: String, sid: String)] = []

  init(_ subjects: [Subject], autoSubscribe: Bool) { (self.subjects, self.autoSubscribe) = (subjects, autoSubscribe) }

  func subject(_ sid: String) -> Subject? { subjects.first { $0.sid == sid && $0.isPublished } }

  // MARK: What happens there

  func publish(_ subject: Subject) {
    serial += 1
    (subject.sid, subject.isPublished) = ("TR_\(subject.name)_\(serial)", true)
    subject.subscribe(autoSubscribe)
  }

  func unpublish(_ subject: Subject) {
    subject.subscribe(false)
    (subject.isPublished, subject.mayGo) = (false, true)
  }

  func leave(_ identity: String) {
    guard let sid = stays.removeValue(forKey: identity) else { return }
    departed.append((identity, sid))
    for subject in subjects where subject.owner == identity { unpublish(subject) }
  }

  func join(_ identity: String) {
    serial += 1
    stays[identity] = "PA_\(identity)_\(serial)"
    for subject in subjects where subject.owner == identity { publish(subject) }
  }

  /// This client begins another session: nothing is known of the one before.
  func beginSession() {
    (departed, hasSession) = ([], true)
    for subject in subjects where subject.isPublished {
      subject.subscribe(false)
      subject.subscribe(autoSubscribe)
    }
  }

  /// Starts again: whoever comes back has other SIDs.
  /// - Returns: those who come later.
  func restart(late isLate: (String) -> Bool) -> [String] {
    hasSession = false
    let identities = stays.keys.sorted()
    stays = [:]
    for identity in identities where !isLate(identity) { join(identity) }
    let late = identities.filter { stays[$0] == nil }
    for subject in subjects where late.contains(subject.owner) {
      subject.subscribe(false)
      subject.isPublished = false
    }
    return late
  }

  // MARK: What it says

  var join: Livekit_JoinResponse {
    var join = Livekit_JoinResponse()
    (join.participant, join.subscriberPrimary) = (ourselves, true)
    join.otherParticipants = participants
    return join
  }

  private var ourselves: Livekit_ParticipantInfo {
    var info = Livekit_ParticipantInfo()
    (info.sid, info.identity, info.state) = ("PA_watcher", "watcher", .active)
    return info
  }

  private var participants: [Livekit_ParticipantInfo] {
    stays.sorted { $0.key < $1.key }.map { identity, sid in
      var info = Livekit_ParticipantInfo()
      (info.identity, info.sid, info.state) = (identity, sid, .active)
      info.tracks = subjects.filter { $0.owner == identity && $0.isPublished }.map(\.info)
      return info
    }
  }

  /// All that is new, and that is not.
  var update: Livekit_ParticipantUpdate {
    var update = Livekit_ParticipantUpdate()
    for (identity, sid) in departed {
      var info = Livekit_ParticipantInfo()
      (info.identity, info.sid, info.state) = (identity, sid, .disconnected)
      update.participants.append(info)
    }
    update.participants += participants + [ourselves]
    return update
  }

  /// It has been heard.
  func heard() { departed = [] }

  var media: [String: ObjectIdentifier] {
    Dictionary(
      subjects.compactMap { subject in subject.sent.map { (subject.sid, ObjectIdentifier($0)) } },
      uniquingKeysWith: { first, _ in first })
  }

  // MARK: What it is told

  /// - Returns: whether it sends something else since.
  func receive(_ request: Livekit_SignalRequest) -> Bool {
    switch request.message {
    case .subscription(let update): receive(update)
    case .syncState(let state):
      receive(state.subscription)
      for sid in state.trackSidsDisabled { subject(sid)?.server.isEnabled = false }
    case .trackSetting(let update):
      for sid in update.trackSids { subject(sid)?.server.isEnabled = !update.disabled }
      return false
    default: return false
    }
    return true
  }

  private func receive(_ update: Livekit_UpdateSubscription) {
    // Who subscribes again soon gets what was told before, as from LiveKit's server.
    for sid in update.trackSids { subject(sid)?.subscribe(update.subscribe, forgets: false) }
  }
}
