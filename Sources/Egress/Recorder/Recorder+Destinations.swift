public import MediaBridge
import MediaCore

// Where the recording goes, and what is fed to each destination.
extension Recorder {
  /// Opens all destinations for what was found.
  /// - Throws: why none can be.
  func open(_ found: RecordingSearch.Found) throws(LiveKitError) {
    job.targets?.know(room, found.participant, found.publications)
    try prepare()
    let sent = SentMedia(found)
    try begin(with: sent, beginsWithVideo: sent.video.codec != nil, video: Locked(nil))
    tellIdleValues(sent)
  }

  /// Says which values for receive templates change nothing in any destination.
  private func tellIdleValues(_ sent: SentMedia) {
    let values = room.options.receiveValues
    let idle = (run?.destinations ?? []).reduce(Set(values.keys)) { idle, destination in
      guard !idle.isEmpty, let plan = destination.plan else { return idle }
      return idle.intersection(destination.target.idle(values, plan, sent.traits))
    }
    if !idle.isEmpty { tell(.withoutEffect(variables: idle.sorted())) }
  }

  public func add(_ destination: OutputDestination) async throws(LiveKitError) {
    let camera = tracks.inputs[.video]
    let isFlowing = await camera?.media.reception().isFlowing == true
    let participant = identity.flatMap { room.remoteParticipants[$0] }
    let sent = SentMedia(
      asked.trackSids.isEmpty ? asked.wantedKinds : Set(tracks.taken.keys), isFlowing ? camera?.media : nil,
      isFlowing ? camera?.publication.dimensions : nil)
    let kinds = try join(destination, for: sent) { $0.know(room, participant, Array(tracks.taken.values)) }
    tracks.choice.take(kinds.intersection(asked.kinds))
    if let participant { await consider(participant) }
  }

  @discardableResult
  public func remove(_ location: String) async throws(LiveKitError) -> DestinationStatus {
    let index = try await part(from: location)
    await giveBackWhatNobodyHas()
    return try ended(index)
  }

  /// Tracks of a kind that no destination has any more.
  private func giveBackWhatNobodyHas() async {
    guard job.isTold, let run else { return }
    for kind in tracks.taken.keys where !run.has(kind) {
      remove(kind)
      tracks.taken[kind] = nil
    }
    await subscriptions.keep(only: Array(tracks.taken.values))
  }

  var flowing: SentMedia {
    let camera = tracks.inputs[.video]
    return SentMedia(
      asked.trackSids.isEmpty ? asked.wantedKinds : Set(tracks.taken.keys), camera?.media,
      camera?.publication.dimensions)
  }

  func feed() {
    guard !job.isFinished, let job = run?.job else { return }
    for kind in tracks.inputs.keys { tracks.inputs[kind]?.feed(job) }
  }
}

extension SentMedia {
  init(_ found: RecordingSearch.Found) {
    let published = found.publications.first { $0.kind == .video }
    let flowing = published.flatMap { found.isFlowing($0) ? $0.media : nil }
    self.init(found.kinds, flowing, published?.dimensions)
  }
}
