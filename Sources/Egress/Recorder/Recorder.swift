public import MediaBridge
package import MediaCore
import PipelineTemplates

/// Records one participant, or single tracks, of a connected room into files and streams. Subscribes to what it needs. A
/// destination that fails fails alone: the others go on.
public actor Recorder: EgressJob {
  let room: Room
  /// From `prepare` on without the kinds that the output does not take.
  package private(set) var options: RecordingOptions
  /// As they were given.
  let asked: RecordingOptions
  private let templates: [OutputTemplates]?
  /// When something came first of who is looked for; nil while nothing has.
  let flowedAt = Locked<MediaTime?>(nil)
  let subscriptions = SubscriptionLease()
  let notifier = EgressNotifier()
  let bell = Bell()
  var job = JobState()
  var tracks: RecordedTracks

  /// Nothing happens before `prepare()` or `start()`.
  /// - Parameter room: may be connected later, but before `start()`.
  public init(room: Room, options: RecordingOptions) { self.init(room: room, options: options, templates: nil) }

  /// - Parameters:
  ///   - templates: as they were read for each destination of these options; nil where they are not.
  ///   - pause: since when it is paused before it begins; nil where it is not.
  package init(
    room: Room, options: RecordingOptions, templates: [OutputTemplates]?, pausedSince pause: MediaTime? = nil
  ) {
    self.room = room
    (self.options, asked) = (options, options)
    self.templates = templates
    tracks = RecordedTracks(TrackChoice(options))
    job.pausedSince = pause
  }

  public func prepare() throws(LiveKitError) {
    try options.checkChoice()
    try checkTargets(&options, templates)
    if tracks.identity == nil { tracks.choice = TrackChoice(options) }
  }

  func begin() async throws(LiveKitError) {
    let deadline = options.wait.map { MediaTime.now + $0 }
    var search = RecordingSearch(
      room: room, options: options, subscriptions: subscriptions, deadline: deadline, bell: bell,
      onUpdate: notifier.tell)
    search.onFlow = { [flowedAt] in flowedAt.withLock { $0 = $0 ?? MediaTime.now } }
    search.isOver = { await self.job.isFinished }
    let listener = bell.ring(for: room.events)
    defer { listener.cancel() }
    let found = try await search.run()
    guard !job.isFinished else { throw .stoppedEarly }
    for omission in search.omissions.all where omission.participant == found.participant.identity {
      _ = tracks.omissions.note(omission)
    }
    try await begin(found)
    let start = MediaTime.now
    let wait = SourceWait(room: room, deadline: Self.limit(of: deadline, for: start))
    var told: String?
    try await awaitFirstMoment(wait, pause: pace) {
      if holdsUpAudio(since: start) { beginWithAudio() }
      let missing = missing
      if told != missing, .now - start >= SearchProgress<RemoteParticipant>.pairing {
        told = missing
        tell(.waiting(missing))
      }
      return (missing, "")
    }
  }

  /// How long a keyframe may take before the recording begins with audio alone, which is kept for as long.
  private static let patience = Duration.seconds(10)

  /// What flows gets the time to begin the file, also at the end of the wait.
  /// - Parameter start: when it flowed; nil where nothing has yet.
  static func limit(of deadline: MediaTime?, for start: MediaTime?) -> MediaTime? {
    guard let deadline, let start else { return deadline }
    return max(deadline, start + patience + .seconds(5))
  }

  private var camera: RemoteTrackPublication? { tracks.inputs[.video]?.publication }

  /// Whether audio waits for the first frame of a camera that had sent something, and was muted or went before that was whole.
  private func holdsUpAudio(since start: MediaTime) -> Bool {
    guard let media = run?.job.media, media.awaitsFrame, media.holdsAudio else { return false }
    return camera?.isMuted != false || media.time(since: start) >= Self.patience
  }

  /// Black stands in for the camera.
  private func beginWithAudio() {
    run?.beginWithAudio(camera?.dimensions)
    feed()
  }

  /// What of the participant the first moment waits for.
  private var missing: String {
    let who = identity ?? "the participant"
    guard run?.job.media.awaitsFrame == true, let camera else {
      return "something of \(who) that can be shown or heard"
    }
    let source = camera.source.spoken(.video)
    return camera.isMuted ? "\(who) to unmute the \(source)" : "a keyframe of the \(source) of \(who)"
  }

  private func begin(_ found: RecordingSearch.Found) async throws(LiveKitError) {
    try open(found)
    tracks.identity = found.participant.identity
    passOver(room.remoteParticipants.values)
    keepGoing()
    // What has gone while the destinations were opened is not waited for: its end was told to nobody yet.
    let there = found.publications.filter { found.participant.trackPublications[$0.sid] === $0 }
    for publication in there {
      await take(publication)
      try join(publication)
    }
    // Whoever has begun another stay meanwhile is another object.
    if let identity, let participant = room.remoteParticipants[identity] { await consider(participant) }
    departed(found.participant)
  }
}

extension Recorder: JobSource {
  nonisolated var request: String { asked.request }
  public var kinds: Set<Track.Kind> { options.kinds }
  var identity: String? { tracks.identity }
  var trackSids: Set<String> { tracks.choice.sids }
  var sourceFailure: LiveKitError? { nil }
  var received: [RecordedTracks.Received] { tracks.all }
  var incoming: [IncomingMedia] { tracks.inputs.values.map(\.media) }
  var omissions: OmissionList {
    get { tracks.omissions }
    set { tracks.omissions = newValue }
  }

  func followRoom() async {
    await followMedia()
    followLayers()
    feed()
    tellInterruptions()
  }

  func countPackets() async { for input in tracks.inputs.values { await countPackets(of: input) } }

  func countPackets(of input: RecordedTracks.Input) async {
    let (kind, reception) = (input.publication.kind, await input.media.reception())
    // Another track may have taken its place meanwhile.
    guard tracks.inputs[kind]?.media == input.media else { return }
    job.arrivals.note(Manifest.Track(input.publication, sid: input.sid, input.media, reception))
    let sum = job.arrivals.sum(kind.description)
    tracks.inputs[kind]?.received.track.packetsReceived = sum.packets
    tracks.inputs[kind]?.received.track.packetsLost = sum.lost
  }

  func stopArriving(at end: MediaTime) async {
    if let media = run?.job.media {
      media.end(at: end)
      await media.awaitEnd()
    }
    for kind in [Track.Kind.video, .audio] { tracks.inputs[kind]?.stop() }
    tellInterruptions()
    await countPackets()
    if let run, run.isActive { tracks.noteWhatNeverCame { run.written($0) } }
  }
}

extension TrackTraits {
  /// Of a track that sends something, or of one that is yet to come.
  init(_ media: IncomingMedia?) {
    self.init(
      codec: media?.codec, mayTurn: media?.mayTurn ?? false, hasBFrames: media?.hasBFrames ?? false,
      hasSpatialLayers: media?.hasSpatialLayers ?? false)
  }
}
