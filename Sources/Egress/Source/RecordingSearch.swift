import MediaBridge
import MediaCore

/// Waits for the participant that is to be recorded, and until its media flows. Looks only when something has happened.
struct RecordingSearch {
  struct Found: Sendable {
    var participant: RemoteParticipant
    /// One of a kind, chosen by what they are.
    var publications: [RemoteTrackPublication]
    /// What the file is to hold.
    var kinds: Set<Track.Kind>
    /// SIDs of the tracks of which something has come.
    var flowing: Set<String>

    func isFlowing(_ publication: RemoteTrackPublication) -> Bool { flowing.contains(publication.sid) }

    /// Whether all that there is of the participant cannot be had.
    var isHopeless: Bool { !publications.isEmpty && publications.allSatisfy { $0.refusal != nil } }
    var hopelessness: String { publications.compactMap(\.refusal?.message).joined(separator: "; ") }
  }

  let room: Room
  let options: RecordingOptions
  let subscriptions: SubscriptionLease
  let wait: SourceWait
  /// Rings for what happens in the room, and here for media that begins to flow.
  let bell: Bell
  let onUpdate: @Sendable (EgressEvent) -> Void
  /// Called when something of somebody flows, again and again.
  var onFlow: @Sendable () -> Void = {}
  /// Called before each look.
  var onLook: @Sendable () -> Void = {}
  /// Whether nobody is looked for any more, asked before each look.
  var isOver: @Sendable () async -> Bool = { false }

  private let choice: TrackChoice
  private var progress = SearchProgress<RemoteParticipant>()
  /// What cannot be had as it is published.
  private(set) var omissions = OmissionList()
  /// Media that rings when it begins to flow.
  private var awaited: [IncomingMedia] = []

  init(
    room: Room, options: RecordingOptions, subscriptions: SubscriptionLease, deadline: MediaTime?, bell: Bell,
    onUpdate: @escaping @Sendable (EgressEvent) -> Void
  ) {
    (self.room, self.options, self.subscriptions) = (room, options, subscriptions)
    wait = SourceWait(room: room, deadline: deadline)
    self.bell = bell
    self.onUpdate = onUpdate
    choice = TrackChoice(options)
  }

  /// - Throws: the wait was too long, the room was left, it is over, the task was cancelled, or what is asked for does
  ///   not fit into one file.
  mutating func run() async throws(LiveKitError) -> Found {
    while true {
      // What is given back then is not to be subscribed to again.
      guard await !isOver() else { throw .stoppedEarly }
      onLook()
      let found = try await look()
      if let found, isReady(found) {
        await subscriptions.keep(only: found.publications)
        return found
      }
      try giveUp(on: found)
      let missing = missing(found)
      tell(missing, found)
      try wait.check(for: missing, advice: advice(found))
      await bell.wait(until: [deadline, progress.nextDeadline].compactMap { $0 }.min())
    }
  }

  /// A mistyped name would be waited for in vain: after some time it is told who is there.
  private mutating func tell(_ missing: String, _ found: Found?) {
    if progress.takesLong(at: .now), found == nil { progress.note(hint: hint) }
    let instead = found == nil ? progress.hint.map { " (\($0))" } : nil
    let text = missing + (instead ?? "")
    if progress.isNews(text) { onUpdate(.waiting(text)) }
  }

  /// - Throws: nothing that is published can be recorded. Whoever set a limit to the wait waits for something else.
  private mutating func giveUp(on found: Found?) throws(LiveKitError) {
    guard deadline == nil, let found, found.isHopeless, let refusal = found.publications.first?.refusal else {
      progress.hasHope()
      return
    }
    guard progress.isOver(at: .now) else { return }
    throw LiveKitError(refusal.code, "\(found.hopelessness); nothing was recorded", underlying: refusal)
  }

  private var deadline: MediaTime? { wait.deadline }

  // MARK: Looking

  /// The first candidate of whom something comes; else the first of all, to be waited for.
  private mutating func look() async throws(LiveKitError) -> Found? {
    let candidates = candidates()
    try checkTracks(of: candidates)
    var waiting: Found?
    for participant in candidates {
      let found = await look(at: participant)
      if !found.flowing.isEmpty { return found }
      // Whoever cannot be recorded in any case is waited for only when there is nobody else.
      if waiting == nil || waiting?.isHopeless == true && !found.isHopeless { waiting = found }
    }
    progress.lost()
    return waiting
  }

  private mutating func look(at participant: RemoteParticipant) async -> Found {
    let publications = choice.best(of: participant.trackPublications.values)
    var flowing: Set<String> = []
    for publication in publications {
      await subscriptions.add(publication)
      if let refusal = publication.refusal { tell(refusal, of: publication, by: participant) }
      guard let media = publication.media else { continue }
      ringWhenFlowing(media)
      guard await media.reception().isFlowing else { continue }
      // What came of a camera before it was muted is not what is to be seen now.
      if publication.kind == .audio || !publication.isMuted { flowing.insert(publication.sid) }
    }
    return Found(
      participant: participant, publications: publications, kinds: choice.kinds(of: publications), flowing: flowing)
  }

  private mutating func tell(
    _ refusal: LiveKitError, of publication: RemoteTrackPublication, by participant: RemoteParticipant
  ) {
    let omission = Omission(
      sid: publication.sid, kind: publication.kind, source: publication.source,
      participant: participant.identity ?? "", reason: refusal.message, wasWanted: true)
    if omissions.note(omission) { onUpdate(.omitted(omission)) }
  }

  private mutating func ringWhenFlowing(_ media: IncomingMedia) {
    guard !awaited.contains(media) else { return }
    awaited.append(media)
    media.onFlow { [bell] in bell.ring() }
  }

  private mutating func isReady(_ found: Found) -> Bool {
    guard !found.flowing.isEmpty else { return false }
    onFlow()
    let limit = progress.flows(found.participant, at: .now)
    let settled = found.publications.filter { found.isFlowing($0) || $0.refusal != nil }
    if Set(settled.map(\.kind)) == found.kinds, choice.isFinal(settled) { return true }
    return MediaTime.now >= min(limit, deadline ?? limit)
  }

  private func candidates() -> [RemoteParticipant] {
    let participants = room.remoteParticipants
    if let identity = options.participant { return participants[identity].map { [$0] } ?? [] }
    let names = NamePatterns(options.participantPatterns)
    // Whoever was found stays.
    return participants.values.sorted {
      (progress.isFirst($0) ? 0 : 1, $0.sid) < (progress.isFirst($1) ? 0 : 1, $1.sid)
    }
    .filter { participant in
      names.matches(participant.identity)
        && participant.trackPublications.values.contains(where: choice.accepts)
    }
  }

  /// - Throws: the tracks that are asked for by name do not fit into one file.
  private func checkTracks(of candidates: [RemoteParticipant]) throws(LiveKitError) {
    guard !options.trackSids.isEmpty else { return }
    let tracks = candidates.flatMap { $0.trackPublications.values.filter(choice.accepts) }
    let names = tracks.map(\.sid).sorted().joined(separator: " and ")
    guard tracks.count > 1 else { return }
    if candidates.count > 1 {
      throw LiveKitError(
        .invalidParameter,
        "\(names) belong to two participants: a file holds one; give the other track to another 'record'")
    }
    guard Set(tracks.map(\.kind)).count == 1 else { return }
    throw LiveKitError(
      .invalidParameter, "\(names) are both \(tracks[0].kind): \(RecordingOptions.oneOfEach)")
  }

  // MARK: What is missing

  private func missing(_ found: Found?) -> String {
    guard let found else {
      if let identity = options.participant { return "participant \(identity)" }
      let sids = options.trackSids.sorted()
      let anybody =
        NamePatterns(options.participantPatterns).words.map { "a participant like \($0)" } ?? "a participant"
      if sids.isEmpty, let want = choice.want { return "\(anybody) with \(want)" }
      return sids.isEmpty ? anybody : "track \(sids.joined(separator: " or "))"
    }
    let who = found.participant.identity ?? "the participant"
    guard !found.publications.isEmpty else { return "\(who) to publish\(choice.want.map { " \($0)" } ?? "")" }
    guard !found.isHopeless else { return "something of \(who) that can be recorded: \(found.hopelessness)" }
    guard found.publications.allSatisfy(\.isMuted) else { return "media of \(who)" }
    return "\(who) to unmute the " + found.publications.map { $0.source.spoken($0.kind) }.joined(separator: " and the ")
  }

  private func advice(_ found: Found?) -> String {
    if let found {
      guard found.publications.isEmpty, let published = census(of: [found.participant]).published else { return "" }
      return "there is only \(published): check what is asked for, or "
    }
    if let nearest = census(of: people).nearest(to: wanted) {
      return "did you mean \(nearest)? If not, "
    }
    if !options.trackSids.isEmpty { return (hint.map { "\($0): " } ?? "") + "check the SID, or " }
    if options.participant != nil || !options.participantPatterns.isEmpty {
      return "\(hint ?? "nobody else is there"): check the name, or "
    }
    return hint.map { "\($0): check what is asked for, or " } ?? "nobody publishes in this room: check its name, or "
  }

  // MARK: What there is instead

  /// Who is there, or what is published, instead of what is waited for; nil for nobody and nothing.
  private var hint: String? { census(of: people).hint(insteadOf: wanted) }

  private var wanted: [String] { options.participant.map { [$0] } ?? options.participantPatterns }

  private var people: [RemoteParticipant] { Array(room.remoteParticipants.values) }

  private func census(of people: [RemoteParticipant]) -> RoomCensus {
    RoomCensus(
      people: people.map {
        RoomCensus.Person($0, named: !options.trackNames.isEmpty, bySID: !options.trackSids.isEmpty)
      })
  }
}
