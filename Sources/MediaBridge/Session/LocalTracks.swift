import Foundation
import LiveKitProtocol

/// What this process publishes, and what is being announced. Its session's only.
struct LocalTracks {
  /// A track, and what sends it in this session.
  struct Published {
    let publication: LocalTrackPublication
    let plan: PublishPlan
    var response: Livekit_TrackPublishedResponse
    var outgoing: OutgoingTrack
    var backup = Backup.unwanted
    /// It is to be published anew: what the server says of its SID is about what is no longer sent.
    var isWithdrawn = false

    var isBackupInUse: Bool {
      switch backup {
      case .unwanted, .failed: false
      case .coming, .sent: true
      }
    }

    /// Whether its other codec can be sent, as far as is known.
    var mayHaveBackup: Bool { if case .failed = backup { false } else { true } }

    /// In each codec.
    var allOutgoing: [OutgoingTrack] { if case .sent(let other) = backup { [outgoing, other] } else { [outgoing] } }
  }

  /// What becomes of a track's other codec.
  enum Backup {
    /// Nobody has needed it.
    case unwanted
    /// It is being announced; somebody needs these layers.
    case coming([Livekit_SubscribedQuality])
    case sent(OutgoingTrack)
    /// It cannot be encoded here, or the server does not take it: nobody gets it any more in this session.
    case failed
  }

  /// In the order in which they were published.
  private(set) var all: [Published] = []
  /// What was published and has not stopped yet, by its publication.
  var ending: [ObjectIdentifier: (name: String, end: Task<Void, Never>)] = [:]
  /// Announced and not answered, by the id with which they were announced first.
  private var waiting = AwaitedAnswers<String, Livekit_TrackPublishedResponse>()
  /// What announced them last.
  private var requests: [String: Livekit_SignalRequest] = [:]

  /// How many sessions there were: what was begun in an earlier one does not count any more.
  private(set) var generation = 0

  /// Publishes all of it anew.
  let republishing = TaskChain()
  /// Who may receive it; nil for everybody.
  var permission: Livekit_SubscriptionPermission?
  /// What the room takes.
  var enabledCodecs = Passthrough.possible.video

  static let lost = LiveKitError(
    .network, "the connection was lost before the server knew the track; publish it again")

  /// A new session knows nothing of what the one before was told.
  mutating func beginAnew() {
    generation += 1
    failWaiting(Self.lost)
  }

  var isEmpty: Bool { all.isEmpty && waiting.isEmpty }

  /// By the server's id.
  subscript(sid: String) -> Published? { all.first { $0.response.track.sid == sid && !$0.isWithdrawn } }

  subscript(publication: LocalTrackPublication) -> Published? { all.first { $0.publication === publication } }

  mutating func insert(_ track: Published) { all.append(track) }

  mutating func replace(_ track: Published) {
    if let index = all.firstIndex(where: { $0.publication === track.publication }) { all[index] = track }
  }

  /// What was allowed of a track is allowed under its new SID, too.
  /// - Returns: whether that is news for the server.
  mutating func allow(_ new: String, as old: String) -> Bool {
    let told = permission
    for index in told?.trackPermissions.indices ?? 0..<0 {
      permission?.trackPermissions[index].trackSids.replace([old], with: [new])
    }
    return permission != told
  }

  mutating func withdraw(allBut known: Set<String>) {
    for index in all.indices where !known.contains(all[index].response.track.sid) { all[index].isWithdrawn = true }
  }

  mutating func remove(_ publication: LocalTrackPublication) -> Published? {
    all.firstIndex { $0.publication === publication }.map { all.remove(at: $0) }
  }

  mutating func await(answerTo request: Livekit_SignalRequest) -> Outcome<Livekit_TrackPublishedResponse, LiveKitError>
  {
    requests[request.addTrack.cid] = request
    return waiting.await(request.addTrack.cid)
  }

  /// What may have got lost with the connection, under other ids: LiveKit's server queues a track whose id it knows behind
  /// the one of that id, and does not answer.
  mutating func announceAgain() -> [Livekit_SignalRequest] {
    for key in requests.keys { requests[key]?.addTrack.rename(to: UUID().uuidString) }
    return Array(requests.values)
  }

  func announced(_ response: Livekit_TrackPublishedResponse) { settle(response.cid, .success(response)) }

  private func settle(_ cid: String, _ result: Result<Livekit_TrackPublishedResponse, LiveKitError>) {
    if let key = requests.first(where: { $0.value.addTrack.cid == cid })?.key { waiting.settle(key, result) }
  }

  func refused(_ request: Livekit_AddTrackRequest, _ response: Livekit_RequestResponse) {
    // What waits for another one is announced in its turn.
    guard response.reason != .queued, let error = LiveKitError(response) else { return }
    let name = Track.Source(request.source).spoken(request.type == .video ? .video : .audio)
    let whole = LiveKitError(error.code, "\(name): \(error.message)", fault: error.fault)
    settle(request.cid, .failure(whole))
  }

  mutating func forget(_ cid: String) {
    requests[cid] = nil
    waiting.forget(cid)
  }

  func failWaiting(_ error: LiveKitError) { waiting.failAll(error) }
}

extension Livekit_AddTrackRequest {
  fileprivate mutating func rename(to new: String) {
    for index in simulcastCodecs.indices where simulcastCodecs[index].cid == cid { simulcastCodecs[index].cid = new }
    cid = new
  }
}

extension Livekit_SubscribedQualityUpdate {
  /// - Parameter codec: of a track that has two; nil for one alone.
  func qualities(of codec: String?) -> [Livekit_SubscribedQuality] {
    guard let codec, !subscribedCodecs.isEmpty else { return subscribedCodecs.first?.qualities ?? subscribedQualities }
    return subscribedCodecs.first { $0.codec.lowercased() == codec }?.qualities ?? []
  }
}
