public import MediaBridge
import MediaCore
import PipelineTemplates

/// Records one participant, or single tracks, of a connected room into files and streams. Subscribes to what it needs. A
/// destination that fails fails alone: the others go on.
public actor Recorder {
  /// What a recording has to say while it runs.
  public enum Update: Sendable {
    /// The participant or its media is not there; the text says what is missing.
    case waiting(String)
    /// The recording has begun, with these tracks of that participant.
    case recording(participant: String, [OutputTrack])
    /// A destination has begun, has lost its live server or got it back, has failed while the others go on, or has ended.
    case destinationChanged(DestinationStatus)
    /// A track of the file has come later, or goes on in another form, such as from another publication.
    case trackChanged(OutputTrack)
    /// The video comes in another codec from now on, and is encoded into the one that the file holds, or goes on in
    /// another file.
    case codecChanged(CodecChange)
    /// What could be stored as it is sent is encoded, because only that encode template has these variables.
    case encodedAnew(template: String, variables: [String])
    /// These of `RoomOptions.receiveValues` change nothing in the file, such as those of a decoder where the tracks are
    /// stored as they are sent.
    case withoutEffect(variables: [String])
    /// Something of the participant is not in the file from now on.
    case omitted(Omission)
    /// The recorded participant is not in the room any more; the file goes on without it.
    case participantLeft(String)
    /// The recorded participant is back, and in the same file again.
    case participantReturned(String)
  }

  let room: Room
  /// From `prepare` on without the kinds that the output does not take.
  package private(set) var options: RecordingOptions
  /// As they were given.
  let asked: RecordingOptions
  private let templates: [OutputTemplates]?
  let subscriptions = SubscriptionLease()
  let bell = Bell()
  let loggers: Loggers
  private(set) var onUpdate: @Sendable (Update) -> Void = { _ in }
  var job = JobState()
  var tracks: RecordedTracks

  /// Nothing happens before `prepare()` or `start()`.
  /// - Parameter room: may be connected later, but before `start()`.
  public init(room: Room, options: RecordingOptions) { self.init(room: room, options: options, templates: nil) }

  /// - Parameter templates: as they were read for each destination of these options; nil where they are not.
  package init(room: Room, options: RecordingOptions, templates: [OutputTemplates]?) {
    self.room = room
    (self.options, asked) = (options, options)
    self.templates = templates
    loggers = Loggers(room.options.logger)
    tracks = RecordedTracks(TrackChoice(options))
  }

  /// Does what can be done before a room is joined: checks what is asked for, the templates and the folders, and takes
  /// the files, so that no other recording writes into them. `finish()` gives them back; one that was made here and has
  /// got nothing goes. `start` does the same where this was not called.
  /// - Throws: what cannot be, and what to do about it.
  public func prepare() throws(LiveKitError) {
    try options.checkChoice()
    try checkTargets(&options, templates)
    if tracks.identity == nil { tracks.choice = TrackChoice(options) }
  }

  /// Waits for the participant and its media, and starts to write. Returns when the first moment is in the file.
  public func start(onUpdate: @escaping @Sendable (Update) -> Void = { _ in }) async throws(LiveKitError) {
    self.onUpdate = onUpdate
    try prepare()
    let deadline = options.wait.map { MediaTime.now + $0 }
    var search = RecordingSearch(
      room: room, options: options, subscriptions: subscriptions, deadline: deadline, bell: bell, onUpdate: onUpdate)
    let listener = bell.ring(for: room.events)
    defer { listener.cancel() }
    do {
      let found = try await search.run()
      for omission in search.omissions.all where omission.participant == found.participant.identity {
        _ = tracks.omissions.note(omission)
      }
      try await begin(found)
      // What flows gets the time to begin the file, also at the end of the wait.
      let wait = SourceWait(room: room, deadline: deadline.map { max($0, .now + .seconds(5)) })
      let missing = "something of \(identity ?? "the participant") that can be shown or heard"
      try await awaitFirstMoment(wait) { (missing, "") }
      job.tell()
      onUpdate(.recording(participant: identity ?? "", tracks.arriving))
      tellDestinations()
    } catch {
      await subscriptions.keep(only: [])
      throw error
    }
  }

  private func begin(_ found: RecordingSearch.Found) async throws(LiveKitError) {
    try open(found)
    tracks.identity = found.participant.identity
    keepGoing()
    for publication in found.publications {
      await take(publication)
      try join(publication)
    }
    await consider(found.participant)
    departed(found.participant)
  }

  // MARK: Pauses

  /// Cuts out what is from now on, of video and audio alike and in all destinations, until `resume()`: what is written goes
  /// on without a gap. Nothing happens while it is paused already.
  /// - Throws: nothing runs yet, or it goes to a live server too, which would take a pause for a loss.
  public func pause() throws(LiveKitError) { try pauseJob() }

  /// Goes on after a pause. Video that is stored as it is sent does so at its next keyframe, which is asked for.
  /// - Throws: nothing runs yet.
  public func resume() throws(LiveKitError) { try resumeJob() }

  // MARK: State

  /// Time since the first moment, without pauses; zero before it.
  public var elapsed: Duration { jobAge }
  /// What there is to be known of it, gaps and loss among it; nil before its first moment.
  public var manifest: Manifest? { jobManifest }

  /// Why nothing can be written any more; nil while a destination goes on.
  public var failure: LiveKitError? { jobFailure }

  /// What has ended the recording, of `RecordingOptions.ending`; it is for the caller to finish it then.
  public var ending: RecordingOptions.Ending? { ended }

  // MARK: The end

  /// Completes and closes all destinations. Called again it only says what they hold.
  /// - Throws: why they are not all complete; `progress()` says how each of them is, and what was written before stays.
  public func finish() async throws(LiveKitError) -> OutputProgress { try await end() }

  /// How far the recording is; after `finish()`, whatever came of it, what the files hold.
  public func progress() async -> OutputProgress { await countedFigures() }
}

extension Recorder: JobSource {
  var identity: String? { tracks.identity }
  var sourceFailure: LiveKitError? { nil }
  var received: [RecordedTracks.Received] { tracks.all }
  var omissions: OmissionList {
    get { tracks.omissions }
    set { tracks.omissions = newValue }
  }

  func tell(_ news: JobNews) {
    switch news {
    case .destinationChanged(let status): onUpdate(.destinationChanged(status))
    case .encodedAnew(let template, let variables): onUpdate(.encodedAnew(template: template, variables: variables))
    case .omitted(let omission): onUpdate(.omitted(omission))
    }
  }

  func followRoom() {
    followMedia()
    dropFailures()
  }

  func countPackets() async {
    for (kind, input) in tracks.inputs {
      let reception = await input.media.reception()
      // Another track may have taken its place meanwhile.
      guard tracks.inputs[kind]?.media == input.media else { continue }
      job.arrivals[input.publication.sid] = Manifest.Track(input.publication, input.media, reception)
      tracks.inputs[kind]?.received.track.packetsReceived = reception.packetsReceived
      tracks.inputs[kind]?.received.track.packetsLost = reception.packetsLost
    }
  }

  func stopArriving(at end: MediaTime) async {
    for kind in [Track.Kind.video, .audio] { tracks.inputs[kind]?.stop() }
    await countPackets()
    if let run, run.isActive { tracks.noteWhatNeverCame { run.written($0) } }
  }
}

extension TrackTraits {
  /// Of a track that sends something, or of one that is yet to come.
  init(_ media: IncomingMedia?) { self.init(codec: media?.codec, mayTurn: media?.mayTurn ?? false) }
}
