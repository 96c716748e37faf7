import MediaCore

/// Waits for the participant that is to be recorded, and until its media flows.
struct RecordingSearch {
  struct Found: Sendable {
    var participant: RemoteParticipant
    /// One of a kind, subscribed.
    var publications: [RemoteTrackPublication]
    /// What the file is to hold.
    var kinds: Set<Track.Kind>
    /// SIDs of the tracks of which something has come.
    var flowing: Set<String>

    func isFlowing(_ publication: RemoteTrackPublication) -> Bool { flowing.contains(publication.sid) }
  }

  let room: Room
  let options: RecordingOptions
  let subscriptions: HeldSubscriptions
  let deadline: MediaTime?
  let onUpdate: @Sendable (Recorder.Update) -> Void

  /// How long pictures and sound of one participant may come apart before one of them is taken as not being there.
  private static let pairing = Duration.seconds(2)

  /// - Throws: the wait was too long, the room was left, or the task was cancelled.
  func run() async throws(LiveKitError) -> Found {
    var told: String?
    var firstSeen: MediaTime?
    while true {
      let found = await look()
      if let found, !found.flowing.isEmpty {
        firstSeen = firstSeen ?? .now
        let isComplete = Set(found.publications.filter(found.isFlowing).map(\.kind)) == found.kinds
        if isComplete || firstSeen.map({ MediaTime.now - $0 >= Self.pairing }) == true {
          await subscriptions.keep(only: wantedPublications(of: found.participant))
          return found
        }
      }
      let missing = missing(found)
      if firstSeen == nil, told != missing {
        told = missing
        onUpdate(.waiting(missing))
      }
      try await pause(missing: missing)
    }
  }

  /// The first candidate of whom something comes; else the first of all, to be waited for.
  private func look() async -> Found? {
    var first: Found?
    for participant in candidates() {
      let found = await look(at: participant)
      if !found.flowing.isEmpty { return found }
      first = first ?? found
    }
    return first
  }

  private func look(at participant: RemoteParticipant) async -> Found {
    let wanted = wantedPublications(of: participant)
    for publication in wanted { await subscriptions.add(publication) }
    let subscribed = wanted.filter { $0.media != nil }
    var flowing: Set<String> = []
    for publication in subscribed where await publication.media?.statistics().isFlowing == true {
      flowing.insert(publication.sid)
    }
    // A shared screen that comes goes before a camera that is off.
    let publications = [Track.Kind.video, .audio].compactMap { kind in
      subscribed.first { $0.kind == kind && flowing.contains($0.sid) } ?? subscribed.first { $0.kind == kind }
    }
    let kinds = options.trackSid == nil ? options.kinds : Set(publications.map(\.kind))
    return Found(
      participant: participant, publications: publications, kinds: kinds,
      flowing: flowing.intersection(publications.map(\.sid)))
  }

  private func missing(_ found: Found?) -> String {
    guard let found else {
      return options.participant.map { "participant \($0)" } ?? options.trackSid.map { "track \($0)" }
        ?? "a participant"
    }
    let who = found.participant.identity ?? "the participant"
    guard !found.publications.isEmpty else { return "\(who) to publish" }
    return found.publications.allSatisfy(\.isMuted) ? "\(who) to unmute" : "media of \(who)"
  }

  /// - Throws: the wait was too long, the room was left, or the task was cancelled.
  func pause(missing: String) async throws(LiveKitError) {
    if room.connectionState == .disconnected {
      throw room.disconnectError ?? LiveKitError(.disconnected, "the room was left while waiting for \(missing)")
    }
    if let deadline, MediaTime.now > deadline {
      throw LiveKitError(.timedOut, "waited in vain for \(missing); check the name, or raise --wait")
    }
    do { try await Task.sleep(for: .milliseconds(10)) } catch {
      throw LiveKitError(.cancelled, "stopped while waiting for \(missing)")
    }
  }

  private func candidates() -> [RemoteParticipant] {
    let participants = room.remoteParticipants
    if let identity = options.participant { return participants[identity].map { [$0] } ?? [] }
    if let sid = options.trackSid { return participants.values.filter { $0.trackPublications[sid] != nil } }
    return participants.values.sorted { $0.sid < $1.sid }.filter { !$0.trackPublications.isEmpty }
  }

  private func wantedPublications(of participant: RemoteParticipant) -> [RemoteTrackPublication] {
    if let sid = options.trackSid { return participant.trackPublications[sid].map { [$0] } ?? [] }
    return participant.publicationsToRecord.filter { options.kinds.contains($0.kind) }
  }
}

extension RemoteParticipant {
  /// What may go into a file, the camera before a shared screen.
  var publicationsToRecord: [RemoteTrackPublication] {
    let order: [Track.Source] = [.camera, .microphone, .screenShareVideo, .screenShareAudio, .unknown]
    return trackPublications.values.sorted {
      (order.firstIndex(of: $0.source) ?? 9, $0.sid) < (order.firstIndex(of: $1.source) ?? 9, $1.sid)
    }
  }
}

extension RemoteTrackPublication {
  /// What arrives of it, while it is subscribed.
  var media: TrackMedia? { track?.incoming }
}
