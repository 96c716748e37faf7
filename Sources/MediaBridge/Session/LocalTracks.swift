import LiveKitProtocol

/// What this process publishes, and what is being announced. Its session's only.
struct LocalTracks {
  /// A track, and what sends it in this session.
  struct Published {
    let publication: LocalTrackPublication
    let plan: PublishPlan
    var response: Livekit_TrackPublishedResponse
    var outgoing: OutgoingTrack
  }

  /// In the order in which they were published.
  private(set) var all: [Published] = []
  /// Announced and not answered, by the id that they have here.
  private var waiting: [String: Outcome<Livekit_TrackPublishedResponse, LiveKitError>] = [:]

  /// How often everything was published anew: what was begun before does not count any more.
  private(set) var generation = 0

  /// A new session knows nothing of what the one before was told.
  mutating func beginAnew() {
    generation += 1
    failWaiting(
      LiveKitError(.network, "the connection was lost before the server knew the track; publish it again"))
  }

  var isEmpty: Bool { all.isEmpty && waiting.isEmpty }

  /// By the server's id.
  subscript(sid: String) -> Published? { all.first { $0.response.track.sid == sid } }

  mutating func insert(_ track: Published) { all.append(track) }

  mutating func replace(_ track: Published) {
    if let index = all.firstIndex(where: { $0.publication === track.publication }) { all[index] = track }
  }

  mutating func remove(_ publication: LocalTrackPublication) -> Published? {
    all.firstIndex { $0.publication === publication }.map { all.remove(at: $0) }
  }

  mutating func await(_ cid: String) -> Outcome<Livekit_TrackPublishedResponse, LiveKitError> {
    let outcome = Outcome<Livekit_TrackPublishedResponse, LiveKitError>()
    waiting[cid] = outcome
    return outcome
  }

  func announced(_ response: Livekit_TrackPublishedResponse) { waiting[response.cid]?.settle(.success(response)) }

  mutating func forget(_ cid: String) { waiting[cid] = nil }

  mutating func failWaiting(_ error: LiveKitError) {
    for outcome in waiting.values { outcome.settle(.failure(error)) }
  }
}

extension Livekit_SubscribedQualityUpdate {
  /// Of the first codec: there is no other one.
  var qualities: [Livekit_SubscribedQuality] { subscribedCodecs.first?.qualities ?? subscribedQualities }
}
